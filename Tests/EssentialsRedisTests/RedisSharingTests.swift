import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import EssentialsTransport
import FoundationEssentials
import Glibc
import TestTools
import Testing

@testable import EssentialsRedis

/// Several clients of one server stand for several machines.
@Suite("Responses that machines share", .timeLimit(.minutes(5)), .enabled(if: RedisServer.isThere))
struct RedisSharingTests {
    private static func key(_ path: String = "a", account: EntityPartition? = nil) throws -> ResponseKey {
        ResponseKey.sample(try RequestURL("https://one.example/\(path)"), account: account)
    }

    /// Stores a small response.
    @discardableResult
    private static func put(
        _ tag: String, _ key: ResponseKey, load: UInt64 = 1, size: Int = 3, in store: RedisResponseStore
    ) async -> Bool {
        guard let ticket = await store.ticket(for: key) else { return false }
        return await store.store(
            .sample(load: load, body: load, tag: tag), Data(count: size), for: key, replacing: nil, since: ticket)
    }

    private static func tags(_ key: ResponseKey, in store: RedisResponseStore) async -> [String?] {
        await store.lookup(key).responses.map(\.sampleTag)
    }

    @Test("A machine finds what another one has stored, and not what it has invalidated or removed")
    func share() async throws {
        let server = try await RedisServer()
        let (one, two) = (RedisResponseStore(try server.client()), RedisResponseStore(try server.client()))
        let (key, ada) = (try Self.key(), try Self.key(account: "ada"))
        for change in 0..<3 {
            let load = UInt64(change * 2 + 1)
            #expect(await Self.put("x\(change)", key, load: load, in: one))
            #expect(await Self.put("x\(change)", ada, load: load + 1, in: one))
            #expect(try await eventually { await Self.tags(key, in: two) == ["\"x\(change)\""] })
            #expect(try await eventually { await Self.tags(ada, in: two) == ["\"x\(change)\""] })
            // It is found in the memory of the process now.
            #expect(
                try await eventually {
                    _ = await two.lookup(key)
                    return two.residentLookup(key)?.responses.count == 1
                })
            switch change {
            case 0: await one.invalidate(key.url)
            case 1: await one.remove(in: ResponseScope(accounts: ["ada"]))
            default: await one.remove(in: .everything)
            }
            #expect(await Self.tags(ada, in: one) == [])
            #expect(try await eventually { await Self.tags(ada, in: two) == [] })
            #expect(try await eventually { await Self.tags(key, in: two).isEmpty == (change != 1) })
        }
    }

    @Test("What was read is in the memory of the process, until the server tells of a change")
    func memory() async throws {
        let server = try await RedisServer()
        let client = try server.client()
        let store = RedisResponseStore(client)
        let key = try Self.key()
        await Self.put("a", key, size: 40_000, in: store)
        let found = try #require(await store.lookup(key).responses.first)
        #expect(await store.body(of: found, for: key)?.all()?.count == 40_000)
        let read = try await server.run("INFO", "commandstats")
        for _ in 0..<100 {
            #expect(store.residentLookup(key)?.responses.count == 1)
            #expect(await store.lookup(key).responses.count == 1)
            #expect(await store.body(of: found, for: key)?.all()?.count == 40_000)
        }
        // The server has counted no further reading.
        let count = { (value: RESPValue) -> Substring? in
            guard case .bytes(let bytes) = value else { return nil }
            return String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").first {
                $0.hasPrefix("cmdstat_mget")
            }
        }
        #expect(count(read) != nil)
        #expect(count(try await server.run("INFO", "commandstats")) == count(read))
        try await server.run("FLUSHALL")
        #expect(try await eventually { client.health.memory.values == 0 })
        #expect(await Self.tags(key, in: store) == [])
    }

    @Test("A number that the server has evicted means that nothing is found, and nothing old comes back")
    func eviction() async throws {
        let server = try await RedisServer()
        let store = RedisResponseStore(try server.client())
        let key = try Self.key(account: "ada")
        await Self.put("old", key, in: store)
        guard case .array(let names) = try await server.run("KEYS", "es:test:*") else {
            return _ = Issue.record("no keys")
        }
        #expect(names.count == 8)
        for (number, name) in names.enumerated() {
            guard case .bytes(let bytes) = name else { continue }
            let load = UInt64(number * 2 + 2)
            #expect(await Self.put("old", key, load: load, in: store))
            let ticket = try #require(await store.ticket(for: key))
            let text = String(decoding: bytes, as: UTF8.self)
            try await server.run("DEL", text)
            // Which process of the server has stored something is asked only when a connection is opened.
            guard !text.hasSuffix(":run") else { continue }
            let isMissed = try await eventually { await store.lookup(key).responses.isEmpty }
            #expect(isMissed, "\(text)")
            guard !text.hasSuffix("}:" + String(text.suffix(32))) else { continue }
            // A response that was asked for before is not stored, because a removal may have been evicted too.
            let isStored = await store.store(
                .sample(load: load + 1, body: load + 1), Data(), for: key, replacing: nil, since: ticket)
            #expect(!isStored, "\(text)")
        }
    }

    @Test("A response asked for before an invalidation by another machine is not found after it")
    func late() async throws {
        let server = try await RedisServer()
        let (one, two) = (RedisResponseStore(try server.client()), RedisResponseStore(try server.client()))
        let key = try Self.key()
        let ticket = try #require(await one.ticket(for: key))
        await two.invalidate(key.url)
        #expect(!(await one.store(.sample(load: 1, body: 1), Data(), for: key, replacing: nil, since: ticket)))
        #expect(await Self.tags(key, in: one) == [])
        let second = try #require(await one.ticket(for: key))
        await two.remove(in: .everything)
        // It may be stored, as long as it is not found.
        _ = await one.store(.sample(load: 2, body: 2), Data(), for: key, replacing: nil, since: second)
        #expect(try await eventually { await Self.tags(key, in: one) == [] })
        #expect(await Self.tags(key, in: two) == [])
    }

    @Test("A value that is damaged, of another version or of another key is not used, but deleted and counted")
    func damage() async throws {
        let server = try await RedisServer()
        let client = try server.client()
        let store = RedisResponseStore(client)
        let (key, other) = (try Self.key(), try Self.key("b"))
        let space = ResponseSpace(prefix: "es:test:", secret: .common)
        let (names, otherNames) = (try #require(ResponseNames(key, space)), try #require(ResponseNames(other, space)))
        await Self.put("b", other, in: store)
        guard let planted = (await client.values([otherNames.list]))?[0] else { return _ = Issue.record("no list") }
        var list = try #require(StoredList(planted))
        await Self.put("a", key, in: store)
        guard let good = (await client.values([names.list]))?[0] else { return _ = Issue.record("no list") }
        let own = try #require(StoredList(good))
        (list.epoch, list.generation) = (own.epoch, own.generation)
        var (wrongSum, wrongVersion) = (good, good)
        wrongSum[30] ^= 1
        wrongVersion[0] += 1
        let values = [wrongSum, wrongVersion, Array(good.dropLast()), [], [1], list.bytes()]
        for (number, value) in values.enumerated() {
            _ = await client.write(RedisCommand("SET", .text(names.list), .bytes(value)))
            #expect(try await eventually { await store.lookup(key).responses.isEmpty })
            #expect(try await eventually { await client.values([names.list]) == [nil] })
            #expect(client.health.damagedValues > number)
            #expect(await Self.put("a", key, load: UInt64(number + 2), in: store))
        }
        // A number and a body.
        _ = await client.write(RedisCommand("SET", .text(names.epoch), "damaged"))
        #expect(try await eventually { await store.lookup(key).responses.isEmpty })
        #expect(try await eventually { await Self.put("a", key, load: 20, size: 30_000, in: store) })
        let found = try #require(await store.lookup(key).responses.first)
        guard let stored = (await client.values([names.list]))?[0], let record = StoredList(stored)?.records.first
        else {
            return _ = Issue.record("no record")
        }
        _ = await client.write(RedisCommand("SET", .text(names.body(record.reference)), "damaged"))
        #expect(await store.body(of: found, for: key) == nil)
        #expect(try await eventually { await client.values([names.body(record.reference)]) == [nil] })
    }

    @Test("Many machines that change one response at once lose none of its variants")
    func contention() async throws {
        let server = try await RedisServer()
        let stores = try (0..<4).map { _ in RedisResponseStore(try server.client()) }
        let key = try Self.key()
        let ticket = try #require(await stores[0].ticket(for: key))
        for (number, store) in stores.enumerated() where number > 0 { _ = await store.ticket(for: key) }
        _ = ticket
        await withTaskGroup(of: Void.self) { group in
            for (number, store) in stores.enumerated() {
                group.addTask {
                    guard let ticket = await store.ticket(for: key) else { return }
                    let load = UInt64(number + 1)
                    let isStored = await store.store(
                        .sample(load: load, body: load, language: "l\(number)", tag: "\(number)"), Data(), for: key,
                        replacing: nil, since: ticket)
                    #expect(isStored)
                }
            }
        }
        #expect(try await eventually { await Self.tags(key, in: stores[0]).count == 4 })
    }

    @Test("A commit is refused if a number has changed, and deletes the bodies that it replaces")
    func commit() async throws {
        let server = try await RedisServer()
        let client = try server.client()
        let store = RedisResponseStore(client)
        let key = try Self.key()
        for load in 1...3 { #expect(await Self.put("a", key, load: UInt64(load), size: 40_000, in: store)) }
        guard case .array(let names) = try await server.run("KEYS", "es:test:c:*") else {
            return _ = Issue.record("none")
        }
        // The epoch, the list, and one body.
        #expect(names.count == 3)
        let (list, number, body) = ("es:test:list", "es:test:n", "es:test:body")
        try await server.run("SET", number, "1")
        func commit(
            _ tag: String, _ value: String, _ expected: String, _ rest: RedisCommand.Argument...
        ) async -> Int64? {
            await client.run(
                .commit, [list, number, body, "es:test:old"],
                [.text(tag), .text(value), "60000", "1", .text(expected)] + rest)
        }
        let first = "123456789tagtagtaXXX"
        #expect(await commit("", first, "2", "new", "body") == 0)
        #expect(await commit("wrong", first, "1", "new", "body") == -1)
        try await server.run("SET", "es:test:old", "old")
        #expect(await commit("", first, "1", "new", "body") == 1)
        #expect(try await server.run("GET", body) == .bytes(Array("body".utf8)))
        #expect(try await server.run("GET", "es:test:old") == .null)
        #expect(await commit("", first, "1", "kept") == -1)
        #expect(await commit("tagtagta", first, "1", "kept") == 1)
        try await server.run("DEL", body)
        #expect(await commit("tagtagta", first, "1", "kept") == 0)
    }

    @Test("A removal by URL finds its responses among thousands of keys")
    func removalAmongMany() async throws {
        let server = try await RedisServer()
        let client = try server.client()
        let store = RedisResponseStore(client)
        _ = await client.write((0..<3_000).map { RedisCommand("SET", .text("es:test:other:\($0)"), "1") })
        for number in 0..<20 { #expect(await Self.put("x", try Self.key("old/\(number)"), in: store)) }
        #expect(await Self.put("x", try Self.key("new"), in: store))
        await store.remove(in: ResponseScope { $0.target.hasPrefix("/old/") })
        for number in 0..<20 { #expect(await Self.tags(try Self.key("old/\(number)"), in: store) == []) }
        #expect(await Self.tags(try Self.key("new"), in: store) == ["\"x\""])
    }

    @Test("Without the right to look at all keys, a removal by URL removes more")
    func removalWithoutScan() async throws {
        let server = try await RedisServer()
        let rules = try RedisClient.accessRules(application: "test").split(separator: " ").map(String.init)
        try await server.run(["ACL", "SETUSER", "some", "on", ">secret"] + rules + ["-scan"])
        let client = try server.client { $0.credentials = { RedisCredentials(user: "some", password: "secret") } }
        let store = RedisResponseStore(client)
        let (ada, bob) = (try Self.key("a", account: "ada"), try Self.key("b", account: "bob"))
        for key in [ada, bob] { #expect(await Self.put("x", key, in: store)) }
        await store.remove(in: ResponseScope(accounts: ["ada"]) { $0.target == "/b" })
        #expect(await Self.tags(ada, in: store) == [])
        #expect(await Self.tags(bob, in: store) == ["\"x\""])
    }

    @Test("The server may forget its scripts")
    func scriptsAreForgotten() async throws {
        let server = try await RedisServer()
        let store = RedisResponseStore(try server.client())
        for load in 1...3 {
            #expect(await Self.put("a", try Self.key(), load: UInt64(load), in: store))
            try await server.run("SCRIPT", "FLUSH")
        }
    }

    @Test("A server without memory stores nothing, and nothing fails")
    func outOfMemory() async throws {
        let server = try await RedisServer(["--maxmemory-policy", "noeviction"])
        let client = try server.client()
        let store = RedisResponseStore(client)
        let key = try Self.key()
        #expect(await Self.put("a", key, in: store))
        try await server.run("CONFIG", "SET", "maxmemory", "1")
        #expect(!(await Self.put("b", key, load: 2, in: store)))
        #expect(await Self.tags(key, in: store) == ["\"a\""])
        #expect(client.health.lastFailure?.contains("OOM") == true)
        // An invalidation waits until there is memory. No store of the process finds anything meanwhile.
        let other = RedisResponseStore(client)
        #expect(await Self.tags(key, in: other) == ["\"a\""])
        let invalidation = Task { await store.invalidate(key.url) }
        #expect(try await eventually { client.health.waitingChanges == 1 })
        #expect(other.residentLookup(key) == nil)
        #expect(await Self.tags(key, in: other) == [])
        try await server.run("CONFIG", "SET", "maxmemory", "0")
        await invalidation.value
        #expect(client.health.waitingChanges == 0)
        #expect(await Self.tags(key, in: store) == [])
    }
}
