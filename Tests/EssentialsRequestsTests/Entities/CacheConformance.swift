import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials
import Testing

/// What every entity cache does, as functions that a test of a cache calls.
///
/// ```swift
/// try await CacheConformance { SharedCache() }.check()
/// ```
struct CacheConformance {
    /// Creates an empty cache that holds at least 100 KiB.
    let make: @Sendable () async throws -> any EntityCache

    init(_ make: @escaping @Sendable () async throws -> any EntityCache) { self.make = make }

    /// Checks everything.
    func check() async throws {
        try await checkRoundTrip()
        try await checkReplacement()
        try await checkConfirmation()
        try await checkKeys()
        try await checkScopes()
        try await checkConcurrency()
    }

    private func key(_ path: String, partition: EntityPartition = .shared) -> EntityKey {
        EntityKey(url: "https://h/\(path)", stage: "decoding", partition: partition)
    }

    private func entity(_ text: String, _ seconds: Double = 0) -> StoredEntity {
        StoredEntity(
            body: Data(text.utf8), mediaType: "text/plain; charset=utf-8", status: 203,
            headerFields: [.eTag: "\"1\"", .contentLanguage: "de"],
            date: Date(timeIntervalSinceReferenceDate: 7.25 + seconds), age: .milliseconds(1_500))
    }

    private func checkRoundTrip() async throws {
        let cache = try await make()
        #expect(try await cache.entity(for: key("a")) == nil)
        try await cache.store(entity("one"), for: key("a"))
        #expect(try await cache.entity(for: key("a")) == entity("one"))
        var bare = StoredEntity(body: Data(), date: Date(timeIntervalSinceReferenceDate: -1))
        bare.headerFields.append(HTTPField(name: .contentLanguage, value: "de"))
        bare.headerFields.append(HTTPField(name: .contentLanguage, value: "en"))
        try await cache.store(bare, for: key("bare"))
        #expect(try await cache.entity(for: key("bare")) == bare)
        let large = StoredEntity(
            body: Data((0..<65_537).map { UInt8(truncatingIfNeeded: $0 &* 31) }),
            date: Date(timeIntervalSinceReferenceDate: 0))
        try await cache.store(large, for: key("large"))
        #expect(try await cache.entity(for: key("large")) == large)
    }

    private func checkReplacement() async throws {
        let cache = try await make()
        try await cache.store(entity("one, which is longer"), for: key("a"))
        try await cache.store(entity("two"), for: key("a"))
        #expect(try await cache.entity(for: key("a")) == entity("two"))
        try await cache.remove(key("a"))
        try await cache.remove(key("a"))
        #expect(try await cache.entity(for: key("a")) == nil)
    }

    private func checkConfirmation() async throws {
        let cache = try await make()
        let confirmation = EntityConfirmation(
            headerFields: [.eTag: "\"2\""], date: Date(timeIntervalSinceReferenceDate: 99), age: .seconds(1))
        try await cache.revalidated(key("a"), by: confirmation)
        #expect(try await cache.entity(for: key("a")) == nil)
        try await cache.store(entity("one"), for: key("a"))
        try await cache.revalidated(key("a"), by: confirmation)
        let renewed = entity("one").revalidated(by: confirmation)
        #expect(try await cache.entity(for: key("a")) == renewed)
        // A confirmation of an entity that was replaced changes nothing.
        let late = EntityConfirmation(date: Date(timeIntervalSinceReferenceDate: 100), entityTag: "\"1\"")
        try await cache.revalidated(key("a"), by: late)
        #expect(try await cache.entity(for: key("a")) == renewed)
    }

    private func checkKeys() async throws {
        let cache = try await make()
        var keys = [key("a"), key("b"), key("a?b"), key("a", partition: "p"), key("a", partition: "q")]
        for change in 0..<6 {
            var other = key("a")
            switch change {
            case 0: other.environment = "staging"
            case 1: other.trust = "t"
            case 2: other.variant = "accept: x"
            case 3: other.stage = "model"
            case 4: other.type = "Item"
            default: other.schema = 2
            }
            keys.append(other)
        }
        for (number, key) in keys.enumerated() { try await cache.store(entity("\(number)"), for: key) }
        for (number, key) in keys.enumerated() {
            #expect(try await cache.entity(for: key) == entity("\(number)"))
        }
    }

    private func checkScopes() async throws {
        let scopes: [(EntityScope, [Bool])] = [
            (.everything, [false, false, false]), (EntityScope(partition: "p"), [true, false, true]),
            (EntityScope(origin: "https://h"), [false, false, true]),
            (EntityScope(matching: { $0.url.hasSuffix("a") }), [false, false, true]),
            (EntityScope(partition: "p", origin: "https://other"), [true, true, true]),
        ]
        var other = key("b")
        other.url = "https://other/b"
        let keys = [key("a"), key("a", partition: "p"), other]
        for (scope, expected) in scopes {
            let cache = try await make()
            for key in keys { try await cache.store(entity("x"), for: key) }
            try await cache.removeAll(in: scope)
            for (key, isKept) in zip(keys, expected) {
                let entity = try await cache.entity(for: key)
                // A cache may remove more than the scope, and never less.
                if !isKept { #expect(entity == nil) }
            }
        }
    }

    private func checkConcurrency() async throws {
        let cache = try await make()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    for round in 0..<5 {
                        try await cache.store(entity("\(number)", Double(round)), for: key("\(number % 7)"))
                        let found = try await cache.entity(for: key("\(Int.random(in: 0..<7))"))
                        #expect(found.map { Int(String(decoding: $0.body, as: UTF8.self)) != nil } ?? true)
                    }
                }
            }
            try await group.waitForAll()
        }
        for number in 0..<7 {
            let found = try #require(try await cache.entity(for: key("\(number)")))
            #expect(Int(String(decoding: found.body, as: UTF8.self)).map { $0 % 7 == number } == true)
        }
    }
}
