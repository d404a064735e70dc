import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

// Article begins
actor DictionaryStore: ResponseStore {
    private struct Record {
        let head: [UInt8]
        let body: Data
    }

    nonisolated let largest = 1 << 20
    private var records: [ResponseKey: [Record]] = [:]
    private var epochs: [RequestURL: UInt64] = [:]
    private var generation: UInt64 = 0

    func lookup(_ key: ResponseKey) -> ResponseLookup {
        ResponseLookup(found(key).map(\.response), ticket: ticket(key))
    }

    func body(
        of response: StoredResponse, for key: ResponseKey
    ) -> StoredContent? {
        found(key).map(\.response)
            .first { $0.bodyNumber == response.bodyNumber }?.body
    }

    func store(
        _ response: StoredResponse, _ body: Data, for key: ResponseKey,
        replacing replaced: UInt64?, since ticket: ResponseTicket
    ) -> Bool {
        let old = found(key)
        let removed = old.filter {
            $0.response.bodyNumber == replaced
                || response.replaces($0.response)
        }
        guard accepts(ticket, key), body.count <= largest,
            removed.allSatisfy({ $0.response.load < response.load })
        else { return false }
        let kept = old.filter { one in
            !removed.contains {
                $0.response.bodyNumber == one.response.bodyNumber
            }
        }
        let new = Record(head: response.bytes(for: key), body: body)
        records[key] = kept.map(\.record) + [new]
        return true
    }

    func freshen(
        _ response: StoredResponse, for key: ResponseKey,
        since ticket: ResponseTicket
    ) -> Bool {
        let old = found(key)
        guard accepts(ticket, key),
            let present = old.first(where: {
                $0.response.bodyNumber == response.bodyNumber
            }), present.response.load < response.load
        else { return false }
        let kept = old.filter {
            $0.response.bodyNumber != response.bodyNumber
                && !response.replaces($0.response)
        }
        let new = Record(
            head: response.bytes(for: key), body: present.record.body)
        records[key] = kept.map(\.record) + [new]
        return true
    }

    func invalidate(_ url: RequestURL) {
        epochs[url, default: 0] += 1
        records = records.filter { $0.key.url != url }
    }

    func remove(in scope: ResponseScope) {
        generation += 1
        records = records.filter {
            !scope.contains($0.key) && !$0.key.hasEnded
        }
    }

    func usage() -> ResponseCache.Usage {
        var usage = ResponseCache.Usage()
        usage.responses = records.values.reduce(0) { $0 + $1.count }
        return usage
    }

    private func found(
        _ key: ResponseKey
    ) -> [(response: StoredResponse, record: Record)] {
        records[key, default: []].compactMap { record in
            let body = StoredContent(record.body)
            return StoredResponse(bytes: record.head, for: key, body: body)
                .map { ($0, record) }
        }
    }

    private func ticket(_ key: ResponseKey) -> ResponseTicket {
        ResponseTicket(
            epoch: epochs[key.url] ?? 0, generation: generation)
    }

    private func accepts(
        _ ticket: ResponseTicket, _ key: ResponseKey
    ) -> Bool {
        let present = self.ticket(key)
        return ticket.epoch == present.epoch
            && ticket.generation == present.generation && !key.hasEnded
    }
}
// Article ends

@Suite("The article WritingAStore", .timeLimit(.minutes(5)))
struct WritingAStoreTests {
    @Test("The store of the article conforms, and is used")
    func store() async throws {
        // Article begins
        let cache = ResponseCache(store: DictionaryStore())
        // Article ends
        // Article begins
        let violations = await ResponseStoreConformance.check {
            DictionaryStore()
        }
        // Article ends
        #expect(violations == [])

        let transport = ScriptedTransport()
        transport.on(.get, "/films").answer(json: ["M"], headerFields: [.cacheControl: "max-age=60"])
        var configuration = HTTPDataRequestService.Configuration()
        configuration.cache = cache
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.example.com/"),
            transport: TrustedTransport(next: transport),
            configuration: configuration)
        for _ in 0..<2 { _ = try await requests.send(DataRequest(.get, "films")) }
        #expect(transport.requests.count == 1)
        let usage = await cache.usage
        #expect(usage.responses == 1)
    }
}
