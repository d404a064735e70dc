import EssentialsHTTP
import EssentialsStorage
import EssentialsTransport
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests

@Suite("The table of responses in memory")
struct ResponseTableTests {
    private static func response(_ number: UInt64, bytes: Int) -> StoredResponse {
        var response = StoredResponse.sample(load: number, body: number)
        response.body = StoredContent(Data(count: bytes))
        return response
    }

    @Test(
        "Stored and removed responses agree with a slow model", arguments: [1, 2, 3])
    func model(seed: UInt64) throws {
        var numbers = SeededNumbers(state: seed)
        let urls = try (0..<6).map { try RequestURL("https://example.com/\($0)") }
        let accounts = ["a", "b", "c", "d"].map { EntityPartition($0) }
        let keys = urls.flatMap { url in accounts.map { ResponseKey.sample(url, account: $0) } }
        var (table, model): (ResponseTable, [ResponseKey: [StoredResponse]]) = (ResponseTable(), [:])
        var removed: [StoredResponse] = []
        let identities = { (responses: [StoredResponse]) in responses.map(\.identity.body).sorted() }
        let all = { (model: [ResponseKey: [StoredResponse]]) in identities(model.values.flatMap { $0 }) }
        for number in 1...3_000 as ClosedRange<UInt64> {
            let key = keys[Int.random(in: 0..<keys.count, using: &numbers)]
            switch Int.random(in: 0..<10, using: &numbers) {
            case 0...4:
                let new = Self.response(number, bytes: Int.random(in: 0...4_000, using: &numbers))
                model[key] = (model[key] ?? []).suffix(2) + [new]
                table.put(model[key] ?? [], key)
                let before = all(model)
                removed = []
                table.evict(to: 40_000, sparing: key, keepsAll: Bool.random(using: &numbers), into: &removed)
                #expect(table[key].last?.identity.body == number)
                for key in keys { model[key] = table[key].isEmpty ? nil : table[key] }
                #expect((all(model) + identities(removed)).sorted() == before)
                #expect(table.bytes <= 40_000)
            case 5:
                removed = []
                table.take(key, into: &removed)
                #expect(identities(removed) == identities(model.removeValue(forKey: key) ?? []))
            case 6:
                removed = []
                table.take(allOf: key.url, into: &removed)
                #expect(identities(removed) == all(model.filter { $0.key.url == key.url }))
                model = model.filter { $0.key.url != key.url }
            case 7:
                guard let response = model[key]?.first else { continue }
                #expect(table.body(response.identity.body, of: key) != nil)
                model[key]?.removeFirst()
                model[key]?.append(response)
            default: #expect(table.use(key).map(\.identity) == (model[key] ?? []).map(\.identity))
            }
            #expect(table.count == model.values.reduce(0) { $0 + $1.count } && Set(table.keys) == Set(model.keys))
            #expect(table.bytes == model.values.joined().reduce(0) { $0 + $1.memoryBytes })
        }
        removed = []
        table.evict(to: 0, into: &removed)
        #expect(identities(removed) == all(model) && table.count == 0 && table.bytes == 0)
    }

    @Test(
        "A key that does not fit alone keeps its last responses, or none if all have to stay", arguments: [true, false])
    func alone(keepsAll: Bool) throws {
        let (url, other) = (try RequestURL("https://example.com/a"), try RequestURL("https://example.com/b"))
        let responses = (1...4).map { Self.response($0, bytes: 3_000) }
        let size = responses[0].memoryBytes
        var (table, removed): (ResponseTable, [StoredResponse]) = (ResponseTable(), [])
        table.put([Self.response(9, bytes: 0)], .sample(other))
        table.put(responses, .sample(url))
        #expect(removed.isEmpty)
        table.evict(to: 2 * size, sparing: .sample(url), keepsAll: keepsAll, into: &removed)
        #expect(table[.sample(url)].map(\.identity.body) == (keepsAll ? [] : [3, 4]))
        #expect(removed.map(\.identity.body) == (keepsAll ? [9, 1, 2, 3, 4] : [9, 1, 2]))
        #expect(table.bytes == (keepsAll ? 0 : 2 * size) && table[.sample(other)].isEmpty)
        // The last one stays although it is too large.
        table.put([responses[0]], .sample(url))
        table.evict(to: 1, sparing: .sample(url), keepsAll: false, into: &removed)
        #expect(table[.sample(url)].count == 1)
    }
}
