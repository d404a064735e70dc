import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials

extension ResponseStoreConformance {
    // MARK: Finding

    mutating func checkRoundTrip() async {
        await group("An empty store") { store, suite in
            let key = ResponseKey.sample(try Self.url("a"))
            let found = await store.lookup(key)
            suite.expect(found.responses.isEmpty, "An empty store: A response is found. Nothing was stored.")
            let ticket = await store.ticket(for: key)
            suite.expect(
                ticket != nil, "An empty store: There is no ticket. A store that works gives one for each key.")
            let isStored = await Self.put(.sample(load: 1, body: 1, tag: "a"), Data("hello".utf8), key, in: store)
            suite.expect(isStored, "One response: It is not stored. A small response with a new ticket is stored.")
            guard let response = await store.lookup(key).responses.first else {
                return suite.violations.append("One response: It is not found. A response is found once it is stored.")
            }
            suite.expect(
                response.load == 1 && response.bodyNumber == 1 && response.sampleTag == "\"a\"",
                "One response: Its numbers or fields have changed. A store keeps all that it is given.")
            let body = await Self.bytes(of: response, key, in: store)
            suite.expect(
                body == Data("hello".utf8), "One response: Its body has changed. A store keeps all that it is given.")
            let other = await store.body(of: .sample(load: 1, body: 2), for: key)
            suite.expect(
                other == nil, "A body with another number: It is found. A body is found by its number alone.")
            await store.close()
            _ = await store.lookup(key)
        }
    }

    mutating func checkBodies() async {
        await group("Bodies") { store, suite in
            let sizes = [0, 1, 4_095, 4_096, 65_535, 65_536, 65_537, 200_000]
            for (number, size) in sizes.enumerated() where size <= store.largest {
                let (key, load) = (ResponseKey.sample(try Self.url("size/\(size)")), UInt64(number + 1))
                let body = Self.pattern(size, load)
                let isStored = await Self.put(.sample(load: load, body: load), body, key, in: store)
                let found = await store.lookup(key).responses.first
                var bytes: Data?
                if let found { bytes = await Self.bytes(of: found, key, in: store) }
                suite.expect(
                    isStored && bytes == body,
                    "A body of \(size) bytes: It is not found as it was stored. A body up to `largest` is stored as a "
                        + "whole.")
                let inLookup = await found?.body?.all()
                suite.expect(
                    inLookup == nil || inLookup == body,
                    "A body of \(size) bytes: The lookup has found another one. It is the stored one, or none.")
            }
            guard store.largest < 64 << 20 else { return }
            let (key, size) = (ResponseKey.sample(try Self.url("large")), store.largest + 1)
            let isStored = await Self.put(.sample(load: 99, body: 99), Data(count: size), key, in: store)
            let found = await store.lookup(key).responses
            suite.expect(
                !isStored && found.isEmpty, "A body larger than `largest`: It is stored. It must not be.")
        }
    }

    mutating func checkVariants() async {
        await group("Variants") { store, suite in
            let key = ResponseKey.sample(try Self.url("a"))
            for (number, language) in ["de", "en"].enumerated() {
                let load = UInt64(number + 1)
                _ = await Self.put(
                    .sample(load: load, body: load, language: language, tag: language), Data(language.utf8), key,
                    in: store)
            }
            var tags = await Self.tags(key, in: store)
            suite.expect(
                tags == ["de", "en"],
                "Two variants: \(tags) are found. Responses with different selections are kept beside each other.")
            for response in await store.lookup(key).responses {
                let body = await Self.bytes(of: response, key, in: store)
                suite.expect(
                    body.map { "\"" + String(decoding: $0, as: UTF8.self) + "\"" } == response.sampleTag,
                    "Two variants: One has the body of the other. Each keeps its own.")
            }
            _ = await Self.put(
                .sample(load: 3, body: 3, language: "de", tag: "new"), Data("new".utf8), key, in: store)
            tags = await Self.tags(key, in: store)
            suite.expect(
                tags == ["en", "new"],
                "A newer variant: \(tags) are found. A response replaces the one with the same selection.")
            _ = await Self.put(
                .sample(load: 4, body: 4, tag: "all"), Data("all".utf8), key, in: store, replacing: 3)
            tags = await Self.tags(key, in: store)
            suite.expect(
                tags == ["all", "en"],
                "A response that replaces a given one: \(tags) are found. The given one is removed, whatever its "
                    + "selection.")
        }
    }

    mutating func checkKeys() async {
        await group("Keys without a name") { store, suite in
            let ada = ResponseKey.sample(try Self.url("a"), account: "ada", isNamed: false)
            let bob = ResponseKey.sample(try Self.url("a"), account: "bob", isNamed: false)
            _ = await Self.put(.sample(load: 1, body: 1, tag: "ada"), Data("ada".utf8), ada, in: store)
            let found = await store.lookup(bob).responses
            suite.expect(
                found.isEmpty,
                "Two accounts whose partition has no name: One finds the response of the other. It must not, also if the "
                    + "store keeps such responses.")
        }
        await group("Keys") { store, suite in
            let (ada, bob): (EntityPartition, EntityPartition) = ("ada", "bob")
            let keys = [
                ResponseKey.sample(try Self.url("a")), .sample(try Self.url("a?x")), .sample(try Self.url("A")),
                .sample(try Self.url("a", origin: "https://one.example:8443")),
                .sample(try Self.url("a"), account: ada), .sample(try Self.url("a"), account: bob),
                .sample(try Self.url("a"), account: ""), .sample(try Self.url("a"), trust: "pinned"),
                .sample(try Self.url("a"), account: ada, trust: "pinned"),
            ]
            for (number, key) in keys.enumerated() {
                let (load, text) = (UInt64(number + 1), "\(number)")
                _ = await Self.put(.sample(load: load, body: load, tag: text), Data(text.utf8), key, in: store)
            }
            for (number, key) in keys.enumerated() {
                let tags = await Self.tags(key, in: store)
                suite.expect(
                    tags == ["\(number)"],
                    "Keys that differ in URL, account or trust policy: \(tags) are found instead of [\"\(number)\"]. Each "
                        + "key has its own responses.")
            }
        }
    }

    // MARK: Order

    mutating func checkOrder() async {
        await group("Order") { store, suite in
            let key = ResponseKey.sample(try Self.url("a"))
            _ = await Self.put(.sample(load: 5, body: 5, tag: "new"), Data("new".utf8), key, in: store)
            let isStored = await Self.put(.sample(load: 4, body: 4, tag: "old"), Data("old".utf8), key, in: store)
            let tags = await Self.tags(key, in: store)
            suite.expect(
                !isStored && tags == ["new"],
                "An older response that comes late: \(tags) are found. It does not replace a newer one.")
        }
    }

    mutating func checkConfirmation() async {
        await group("Confirmations") { store, suite in
            let key = ResponseKey.sample(try Self.url("a"))
            guard let early = await store.ticket(for: key) else { return }
            let isUnknown = await store.freshen(.sample(load: 2, body: 1), for: key, since: early)
            suite.expect(!isUnknown, "A confirmation of nothing: It is stored. It needs a stored response.")
            _ = await Self.put(.sample(load: 1, body: 1, tag: "old"), Data("body".utf8), key, in: store)
            guard let ticket = await store.ticket(for: key) else { return }
            let isFresh = await store.freshen(.sample(load: 3, body: 1, tag: "new"), for: key, since: ticket)
            let found = await store.lookup(key).responses
            var body: Data?
            if let first = found.first { body = await Self.bytes(of: first, key, in: store) }
            suite.expect(
                isFresh && found.map(\.load) == [3] && found.first?.sampleTag == "\"new\"" && body == Data("body".utf8),
                "A confirmation: The head is not the new one, or the body has changed. It replaces the head alone.")
            let isLate = await store.freshen(.sample(load: 2, body: 1, tag: "late"), for: key, since: ticket)
            let isOther = await store.freshen(.sample(load: 9, body: 8, tag: "other"), for: key, since: ticket)
            let tags = await Self.tags(key, in: store)
            suite.expect(
                !isLate && !isOther && tags == ["new"],
                "A late confirmation, and one of another body: \(tags) are found. Neither changes anything.")
        }
    }

    mutating func checkPieces() async {
        await group("Pieces") { store, suite in
            let key = ResponseKey.sample(try Self.url("a"))
            let body = Self.pattern(min(150_000, store.largest), 1)
            func write(_ load: UInt64) async -> (any ResponseWriter)? {
                guard let ticket = await store.ticket(for: key) else { return nil }
                return await store.begin(
                    .sample(load: load, body: load, tag: "\(load)"), for: key, replacing: nil, since: ticket)
            }
            guard let writer = await write(1) else {
                return suite.violations.append("A body in pieces: It is not stored. A store that works begins it.")
            }
            for start in stride(from: 0, to: body.count, by: 10_000) {
                _ = writer.append(BodyChunk(body[start..<min(start + 10_000, body.count)]))
            }
            let early = await store.lookup(key).responses
            suite.expect(early.isEmpty, "A body that has not ended: It is found. It appears as a whole.")
            let isStored = await writer.commit()
            let found = await store.lookup(key).responses.first
            var bytes: Data?
            if let found { bytes = await Self.bytes(of: found, key, in: store) }
            suite.expect(isStored && bytes == body, "A body in pieces: It is not found as it was written.")
            if let abandoned = await write(2) {
                _ = abandoned.append(BodyChunk(Data("x".utf8)))
                abandoned.abandon()
                let isCommitted = await abandoned.commit()
                suite.expect(!isCommitted, "An abandoned body: It is stored. It must not be.")
            }
            if store.largest < 64 << 20, let large = await write(3) {
                _ = large.append(BodyChunk(Data(count: store.largest)))
                let isAppended = large.append(BodyChunk(Data("x".utf8)))
                let isCommitted = await large.commit()
                suite.expect(
                    !isAppended && !isCommitted, "A body in pieces larger than `largest`: It is stored. It must not be."
                )
            }
            let tags = await Self.tags(key, in: store)
            suite.expect(tags == ["1"], "Bodies that were not stored: \(tags) are found. Nothing is left of them.")
        }
    }

    // MARK: Removing

    mutating func checkInvalidation() async {
        await group("Invalidations") { store, suite in
            let keys = [
                ResponseKey.sample(try Self.url("a")), .sample(try Self.url("a"), account: "ada"),
                .sample(try Self.url("a"), account: "bob"), .sample(try Self.url("a"), trust: "pinned"),
            ]
            let other = ResponseKey.sample(try Self.url("b"))
            for (number, key) in (keys + [other]).enumerated() {
                let load = UInt64(number + 1)
                _ = await Self.put(.sample(load: load, body: load), Data("x".utf8), key, in: store)
            }
            await store.invalidate(try Self.url("a"))
            for key in keys {
                let found = await store.lookup(key).responses
                suite.expect(
                    found.isEmpty,
                    "An invalidated URL: A response is found. It is invalidated in all partitions and for all accounts."
                )
            }
            let left = await store.lookup(other).responses
            suite.expect(left.count == 1, "Another URL than the invalidated one: It is not found. It stays.")
            let isStored = await Self.put(.sample(load: 9, body: 9), Data("new".utf8), keys[0], in: store)
            suite.expect(
                isStored, "A response that was asked for after an invalidation: It is not stored. It must be.")
        }
    }

    /// What was asked for before a removal is not stored after it.
    mutating func checkLateResponses() async {
        let (removals, url): ([(String, @Sendable (any ResponseStore) async throws -> Void)], String) = (
            [
                ("an invalidation", { await $0.invalidate(try Self.url("a")) }),
                ("a removal of everything", { await $0.remove(in: .everything) }),
                (
                    "a removal of the account",
                    { store in
                        let origin = try Self.url("a").origin
                        await store.remove(in: ResponseScope(origin: origin, accounts: ["ada"]))
                    }
                ),
                (
                    "a removal of the URL",
                    { await $0.remove(in: ResponseScope { $0.target == "/a" }) }
                ),
            ], "a"
        )
        for (name, removal) in removals {
            for isStored in [false, true] {
                await group(name) { store, suite in
                    let key = ResponseKey.sample(try Self.url(url), account: "ada")
                    if isStored {
                        _ = await Self.put(.sample(load: 1, body: 1, tag: "a"), Data("x".utf8), key, in: store)
                    }
                    guard let ticket = await store.ticket(for: key) else { return }
                    let old = await store.lookup(key).responses.first
                    let writer = await store.begin(.sample(load: 2, body: 2), for: key, replacing: nil, since: ticket)
                    _ = writer?.append(BodyChunk(Data("late".utf8)))
                    try await removal(store)
                    let late = await store.store(
                        .sample(load: 3, body: 3), Data("late".utf8), for: key, replacing: nil, since: ticket)
                    let confirmed = await store.freshen(.sample(load: 4, body: 1), for: key, since: ticket)
                    let written = await writer?.commit() ?? false
                    let found = await store.lookup(key).responses
                    suite.expect(
                        !late && !confirmed && !written && found.isEmpty,
                        "A response that was asked for before \(name): It is stored. No ticket from before is accepted, "
                            + "\(isStored ? "and what was stored does not come back" : "also if nothing was stored").")
                    if let old {
                        let body = await store.body(of: old, for: key)
                        suite.expect(body == nil, "The body of a response after \(name): It is found. It is removed.")
                    }
                }
            }
        }
    }

    mutating func checkRemoval() async {
        await group("Scopes") { store, suite in
            let (one, two) = ("https://one.example", "https://two.example")
            func keys() throws -> [(String, ResponseKey)] {
                try [
                    ("one/ada", .sample(Self.url("a", origin: one), account: "ada")),
                    ("one/bob", .sample(Self.url("a", origin: one), account: "bob")),
                    ("one", .sample(Self.url("a", origin: one))),
                    ("two/ada", .sample(Self.url("a", origin: two), account: "ada")),
                    ("two/b", .sample(Self.url("b", origin: two))),
                ]
            }
            let scopes: [(ResponseScope, [String])] = try [
                (ResponseScope(origin: Self.url("", origin: one).origin, accounts: ["ada"]), ["one/ada"]),
                (ResponseScope(accounts: ["ada", "bob"]), ["one/ada", "one/bob", "two/ada"]),
                (ResponseScope(origin: Self.url("", origin: two).origin), ["two/ada", "two/b"]),
                (ResponseScope { $0.target == "/b" }, ["two/b"]),
                (ResponseScope(accounts: ["ada"]) { $0.origin.description == two }, ["two/ada"]),
                (ResponseScope(accounts: []), []), (.everything, try keys().map(\.0)),
            ]
            var load: UInt64 = 0
            for (scope, removed) in scopes {
                for (name, key) in try keys() {
                    load += 1
                    _ = await Self.put(.sample(load: load, body: load, tag: name), Data("x".utf8), key, in: store)
                }
                await store.remove(in: scope)
                var left: [String] = []
                for (name, key) in try keys() {
                    let found = await store.lookup(key).responses
                    if !found.isEmpty { left.append(name) }
                }
                let expected = try keys().map(\.0).filter { !removed.contains($0) }
                suite.expect(
                    left == expected,
                    "A removed scope: \(left) are left instead of \(expected). Exactly the responses of the scope are "
                        + "removed.")
            }
        }
    }

    mutating func checkLeases() async {
        await group("Leases") { store, suite in
            let key = ResponseKey.sample(try Self.url("a"))
            guard let lease = await store.lease(key, for: .seconds(30)) else {
                return suite.violations.append("The first lease: It is refused. Nobody else has it.")
            }
            let second = await store.lease(key, for: .seconds(30))
            suite.expect(
                lease.isFree || second == nil, "A second lease: It is granted. Only one caller has it.")
            await lease.end()
            let third = await store.lease(key, for: .seconds(30))
            suite.expect(third != nil, "A lease after the end of the first: It is refused. It is free again.")
            await third?.end()
        }
    }

    // MARK: Concurrency

    private final class Counts: Sendable {
        let loads = Atomic<UInt64>(0)
        let torn = Atomic<Int>(0)
    }

    mutating func checkConcurrency() async {
        await group("Concurrency") { store, suite in
            let keys = try (0..<4).map { ResponseKey.sample(try Self.url("\($0)"), account: $0 % 2 == 0 ? "ada" : nil) }
            let counts = Counts()
            let tasks = (0..<8).map { worker in
                Task { for round in 0..<40 { await Self.step(worker, round, keys, store, counts) } }
            }
            for task in tasks { await task.value }
            suite.expect(
                counts.torn.load(ordering: .relaxed) == 0,
                "Several tasks at once: A response has the body of another one. A body belongs to its number.")
        }
    }

    private static func step(
        _ worker: Int, _ round: Int, _ keys: [ResponseKey], _ store: any ResponseStore, _ counts: Counts
    ) async {
        let key = keys[(worker + round) % keys.count]
        func body(_ number: UInt64) -> Data { pattern(1 + Int(number % 50) * 97, number) }
        switch (worker * 7 + round) % 9 {
        case 0: await store.invalidate(key.url)
        case 1 where round % 4 == 0: await store.remove(in: ResponseScope(accounts: ["ada"]))
        case 2, 3, 4:
            let load = counts.loads.add(1, ordering: .relaxed).newValue
            _ = await put(.sample(load: load, body: load), body(load), key, in: store)
        default:
            for response in await store.lookup(key).responses {
                guard let bytes = await bytes(of: response, key, in: store) else { continue }
                if bytes != body(response.bodyNumber) { counts.torn.add(1, ordering: .relaxed) }
            }
        }
    }

    // MARK: Restart

    mutating func checkRestart() async {
        let (kept, own): (ResponseKey, ResponseKey)
        do {
            kept = ResponseKey.sample(try Self.url("kept"), account: "ada")
            own = ResponseKey.sample(try Self.url("own"), isNamed: false)
        } catch {
            return violations.append("\(error)")
        }
        await group("Before a restart") { store, suite in
            for (number, key) in [
                kept, own, .sample(try Self.url("invalid")), .sample(try Self.url("x"), account: "bob"),
            ]
            .enumerated() {
                let load = UInt64(number + 1)
                _ = await Self.put(.sample(load: load, body: load), Self.pattern(70_000, load), key, in: store)
            }
            await store.invalidate(try Self.url("invalid"))
            await store.remove(in: ResponseScope(accounts: ["bob"]))
            await store.close()
        }
        await group("After a restart") { store, suite in
            let found = await store.lookup(kept).responses.first
            var bytes: Data?
            if let found { bytes = await Self.bytes(of: found, kept, in: store) }
            suite.expect(
                bytes == Self.pattern(70_000, 1),
                "A response after a restart: It is not found as it was stored. A store outside the process keeps it.")
            for (key, why) in try [
                (own, "Nothing is kept whose partition has no name."),
                (.sample(Self.url("invalid")), "It was invalidated."),
                (.sample(Self.url("x"), account: "bob"), "Its account was removed."),
            ] {
                let found = await store.lookup(key).responses
                suite.expect(found.isEmpty, "A response after a restart: It is found. \(why)")
            }
            await store.remove(in: .everything)
            await store.close()
        }
        await group("After a removal and a restart") { store, suite in
            let found = await store.lookup(kept).responses
            suite.expect(found.isEmpty, "A response after a removal and a restart: It is found. It was removed.")
        }
    }

    /// Bytes that depend on their place and a number.
    static func pattern(_ count: Int, _ number: UInt64) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: UInt64($0) &* 31 &+ UInt64($0) >> 8 &+ number &* 7) })
    }
}
