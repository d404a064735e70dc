import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsResources

@Suite("Resource table: content that was set without a request", .leavesNothing, .timeLimit(.minutes(5)))
struct UnmeasuredTests {
    /// A content that counts how often it is encoded.
    private struct Counted: Codable, Sendable {
        var text: String
        private static let encodings = Mutex<[String: Int]>([:])

        static func encodings(of text: String) -> Int { encodings.withLock { $0[text] ?? 0 } }

        func encode(to encoder: any Encoder) throws {
            Self.encodings.withLock { $0[text, default: 0] += 1 }
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }

        init(text: String) { self.text = text }

        init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
    }

    private struct Opaque: Sendable { var number = 0 }

    /// A text of 1 MiB, so that only 32 fit into the standard limit.
    private static let large = String(repeating: "x", count: 1 << 20)

    private func names(_ count: Int) -> [String] { (0..<count).map { "item-\($0)" } }

    /// How many resources still have content.
    private func kept<Content: Sendable>(
        _ names: [String], _ type: Content.Type, in service: HTTPResourceService
    ) -> Int {
        names.count { service.resource($0, as: type).content != nil }
    }

    @Test("Unused models that were set keep at most 32 MiB")
    func models() throws {
        let service = try ResourceFixture().service
        let names = names(200)
        for name in names { service.resource(name, as: Item.self).override(with: Item(name: Self.large)) }
        #expect(service.table.countedBytes <= 32 << 20)
        let count = kept(names, Item.self, in: service)
        #expect(count >= 30 && count <= 32)
    }

    @Test("Models that were changed, pushed or sent count as well", arguments: ["update", "push", "put"])
    func changes(way: String) async throws {
        let fixture = try ResourceFixture()
        let service = fixture.service
        fixture.transport.on(.put, "/v1/*").answer(.noContent)
        let names = names(60)
        let resources = PushedResources(service: service, memory: PushedMemory([]))
        for name in names {
            let item: Resource<Item> = service.resource(name)
            switch way {
            case "update":
                item.override(with: Item(name: ""))
                item.update { $0.name = Self.large }
            case "push": resources.push(Item(name: Self.large), to: item)
            default: try await item.put(Item(name: Self.large))
            }
        }
        #expect(service.table.countedBytes <= 32 << 20)
        #expect(kept(names, Item.self, in: service) <= 32)
    }

    @Test("Bytes and texts count with their size at once")
    func known() throws {
        let service = try ResourceFixture().service
        service.resource("text", as: String.self).override(with: "süß")
        #expect(service.table.countedBytes == 5)
        service.resource("bytes", as: Data.self).override(with: Data(repeating: 1, count: 100))
        #expect(service.table.countedBytes == 105)
        service.resource("text", as: String.self).update { $0 = "" }
        #expect(service.table.countedBytes == 100)
    }

    @Test("Content that cannot be encoded counts as 16 KiB")
    func opaque() throws {
        let service = try ResourceFixture().service
        service.resource("opaque", as: Opaque.self).override(with: Opaque())
        _ = service.resource("another", as: Opaque.self)
        #expect(service.table.countedBytes == 16 << 10)
    }

    @Test("Content is encoded once when it is no longer used, and never when it is changed")
    func once() throws {
        let service = try ResourceFixture().service
        let text = "encoded once"
        do {
            let item: Resource<Counted> = service.resource("item")
            item.override(with: Counted(text: text))
            for number in 0..<1_000 {
                item.update { $0.text = text }
                service.resource("others/\(number)", as: Opaque.self).override(with: Opaque())
            }
            #expect(Counted.encodings(of: text) == 0)
        }
        for number in 0..<10 { _ = service.resource("more/\(number)", as: Opaque.self) }
        #expect(Counted.encodings(of: text) == 1)
    }

    @Test("Content that was held until now is measured when the limits are lowered")
    func lowered() throws {
        let service = try ResourceFixture().service
        var items: [Resource<Item>] = names(100).map { service.resource($0) }
        for item in items { item.override(with: Item(name: String(repeating: "x", count: 10_000))) }
        items = []
        service.keepUnused(count: 2_048, bytes: 100_000)
        #expect(kept(names(100), Item.self, in: service) <= 10)
    }

    /// A content whose first encoding begins by calling a closure.
    private struct Interrupted: Codable, Sendable {
        static let interruption = Mutex<(@Sendable () -> Void)?>(nil)
        var text: String

        init(text: String) { self.text = text }

        func encode(to encoder: any Encoder) throws {
            let interruption = Self.interruption.withLock { interruption in
                defer { interruption = nil }
                return interruption
            }
            interruption?()
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }

    @Test("Content that is set while the previous content is being measured counts with its own size")
    func setMeanwhile() throws {
        let service = try ResourceFixture().service
        service.resource("item", as: Interrupted.self).override(with: Interrupted(text: "small"))
        let long = String(repeating: "x", count: 100_000)
        Interrupted.interruption.withLock { interruption in
            interruption = { service.resource("item", as: Interrupted.self).override(with: Interrupted(text: long)) }
        }
        for number in 0..<10 { _ = service.resource("others/\(number)", as: Opaque.self) }
        #expect(service.table.countedBytes >= 100_000)
    }
}
