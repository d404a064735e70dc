import EssentialsHTTP
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests

@Suite("Keys and stored entities")
struct EntityKeyTests {
    @Test("Keys that differ in one part have other bytes, also if the parts together are the same text")
    func differ() {
        let key = EntityKey(url: "https://h/a", stage: "decoding")
        var keys: [EntityKey] = [key]
        keys.append(EntityKey(url: "https://h/a", variant: "b", stage: "decoding"))
        keys.append(EntityKey(url: "https://h/ab", stage: "decoding"))
        keys.append(EntityKey(url: "https://h/a", stage: "decodingb"))
        keys.append(EntityKey(url: "https://h/a", stage: "raw"))
        keys.append(EntityKey(url: "https://h/a", stage: "decoding", type: "Item"))
        keys.append(EntityKey(url: "https://h/a", stage: "decoding", schema: 1))
        keys.append(EntityKey(url: "https://h/a", stage: "decoding", partition: "one"))
        keys.append(EntityKey(url: "https://h/a", stage: "decoding", environment: "one"))
        keys.append(EntityKey(url: "https://h/a", stage: "decoding", trust: "one"))
        keys.append(EntityKey(url: "https://h/a", stage: "decoding", partition: "on", environment: "e"))
        #expect(Set(keys.map(\.bytes)).count == keys.count)
        #expect(Set(keys).count == keys.count)
    }

    @Test(
        "The origin of a key ends before the path",
        arguments: [
            ("https://h/a/b", "https://h"), ("https://h:8080/", "https://h:8080"), ("https://h", "https://h"),
            ("", ""), ("//", "//"),
        ])
    func origin(url: String, origin: String) {
        #expect(EntityKey(url: url, stage: "raw").origin == origin)
    }

    @Test("A scope contains the keys that fulfil all of its conditions")
    func scopes() {
        let key = EntityKey(url: "https://h/a", stage: "raw", partition: "one")
        #expect(EntityScope.everything.contains(key))
        #expect(EntityScope(partition: "one").contains(key))
        #expect(!EntityScope(partition: "two").contains(key))
        #expect(EntityScope(origin: "https://h").contains(key))
        #expect(!EntityScope(origin: "https://other").contains(key))
        #expect(!EntityScope(partition: "one", matching: { $0.url.hasSuffix("b") }).contains(key))
    }

    @Test("The description of a key shows neither its query nor its partition")
    func description() {
        let key = EntityKey(url: "https://h/a?token=x", stage: "raw", partition: "ada@example.com")
        #expect(key.description == "https://h/a after raw")
        #expect("\(key.partition)" == "a named partition")
    }

    static let entity = StoredEntity(
        body: Data("body".utf8), mediaType: "text/plain; charset=utf-8", status: 203,
        headerFields: [.eTag: "\"1\"", .contentLanguage: "de"], date: Date(timeIntervalSinceReferenceDate: 7.25),
        age: .seconds(3))

    private func read(_ head: [UInt8]) -> StoredEntity? {
        head.withUnsafeBytes { StoredEntity(head: $0, body: Data("body".utf8)) }
    }

    @Test("An entity is read as it was written, with repeated fields and bytes that are not UTF-8")
    func roundTrip() throws {
        var entity = Self.entity
        entity.headerFields.append(HTTPField(name: .contentLanguage, value: "en"))
        entity.headerFields.append(HTTPField(name: .server, value: [0x41, 0xe4, 0x42]))
        #expect(read(entity.head) == entity)
        entity.mediaType = nil
        #expect(read(entity.head) == entity)
    }

    @Test("A head that is cut off, longer or damaged is no entity, or another one, and never a trap")
    func damage() {
        let head = Self.entity.head
        for count in 0..<head.count { #expect(read(Array(head[..<count])) == nil) }
        #expect(read(head + [0]) == nil)
        for seed in 1...2_000 as ClosedRange<UInt64> {
            var numbers = SeededNumbers(state: seed)
            var damaged = head
            for _ in 0..<Int.random(in: 1...4, using: &numbers) {
                damaged[Int.random(in: damaged.indices, using: &numbers)] = .random(in: 0...255, using: &numbers)
            }
            _ = read(damaged)
        }
    }

    @Test("A confirmation renews the times and the fields that it has, and keeps the others")
    func confirmation() {
        let confirmed = Self.entity.revalidated(
            by: EntityConfirmation(
                headerFields: [.eTag: "\"2\""], date: Date(timeIntervalSinceReferenceDate: 9), age: .zero))
        #expect(confirmed.headerFields[.eTag] == "\"2\"")
        #expect(confirmed.headerFields[.contentLanguage] == "de")
        #expect(confirmed.date == Date(timeIntervalSinceReferenceDate: 9))
        #expect(confirmed.age == .zero)
        #expect(confirmed.body == Self.entity.body)
    }
}
