import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@testable import EssentialsRequests

/// Processes that find nothing stored agree on which of them asks the server.
@Suite("Leases for what is not stored", .timeLimit(.minutes(2)))
struct MissLeaseTests {
    private let store = ScriptedStore(leasesMisses: true)

    private func setUp(
        _ fields: HTTPFields = [.cacheControl: "max-age=60"], joins: Bool = true
    ) throws -> (origin: CacheOrigin, service: HTTPDataRequestService) {
        let origin = CacheOrigin(fields)
        let service = try origin.service(ResponseCache(store: store), over: TrustedStub(origin.transport())) {
            $0.joins = joins
        }
        return (origin, service)
    }

    /// The text of a response, while the test's clock moves on.
    private func text(_ service: HTTPDataRequestService, _ origin: CacheOrigin) async throws -> String {
        let isOver = Atomic<Bool>(false)
        let running = Task {
            defer { isOver.store(true, ordering: .relaxed) }
            return try await service.text("a")
        }
        while !isOver.load(ordering: .relaxed) {
            origin.clock.advance(by: .milliseconds(5))
            try await Task.sleep(for: .milliseconds(2))
        }
        return try await running.value
    }

    @Test("Requests that join equal ones ask for a lease once, and others do not", arguments: [true, false])
    func joining(joins: Bool) async throws {
        let (origin, service) = try setUp(joins: joins)
        for _ in 0..<3 { #expect(try await service.text("a") == "1") }
        #expect(store.count(of: .lease) == (joins ? 1 : 0))
        #expect(origin.count == 1)
    }

    @Test("A request without the lease serves what the process with the lease has stored")
    func follower() async throws {
        let (origin, service) = try setUp()
        let (other, leader) = try setUp(joins: false)
        store.behave(.fails, in: .lease)
        let following = Task { try await text(service, origin) }
        while store.count(of: .lease) == 0 { await Task.yield() }
        #expect(try await leader.text("a") == "1")
        #expect(try await following.value == "1")
        #expect(origin.count == 0 && other.count == 1)
    }

    @Test("A request waits 100 milliseconds for the process with the lease, and then asks the server")
    func limit() async throws {
        let (origin, service) = try setUp()
        store.behave(.fails, in: .lease)
        let start = origin.clock.now
        #expect(try await text(service, origin) == "1")
        #expect(start.duration(to: origin.clock.now) >= .milliseconds(100))
    }

    @Test("What is not stored is not waited for again")
    func unstored() async throws {
        let (origin, service) = try setUp([.cacheControl: "no-store"])
        for number in 1...3 { #expect(try await service.text("a") == "\(number)") }
        #expect(store.count(of: .lease) == 1)
        #expect(try await service.text("b") == "4")
        #expect(store.count(of: .lease) == 2)
        #expect(origin.count == 4)
    }

    @Test("Few keys are remembered as not stored, and each for a minute")
    func memory() throws {
        let keys = UnstoredKeys()
        let urls = try (0...UnstoredKeys.maximumCount).map { try RequestURL("https://h/\($0)") }
        for url in urls.dropLast() { keys.insert(.sample(url)) }
        #expect(keys.contains(.sample(urls[0])))
        keys.insert(.sample(urls[UnstoredKeys.maximumCount]))
        #expect(!keys.contains(.sample(urls[0])))
        #expect(keys.contains(.sample(urls[UnstoredKeys.maximumCount])))
        #expect(UnstoredKeys.time == .seconds(60))
    }
}
