import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

@testable import EssentialsRequests

@Suite("Private-state stores that join a service")
struct PrivateStateStoreTests {
    private final class Log: Sendable {
        let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private final class Store: PrivateStateStore {
        let name: String
        let log: Log
        /// What a clearing waits for.
        let gate: LoopbackGate?

        init(_ name: String, _ log: Log, gate: LoopbackGate? = nil) {
            self.name = name
            self.log = log
            self.gate = gate
        }

        func clearPrivateState(of origin: Origin) async {
            await gate?.opened()
            log.add("\(name) \(origin)")
        }
    }

    private struct Double: DataRequestService {
        let codecs = CodecRegistry.standard
        func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse { DataResponse() }
    }

    private struct Decorator: DataRequestDecorator {
        let next: any DataRequestService
    }

    @Test("Stores are cleared in the order of joining, after those of the configuration")
    func order() async throws {
        let log = Log()
        let configured = Store("configured", log)
        let stores = ["b", "a", "c"].map { Store($0, log) }
        let fixture = try ServiceFixture { $0.privateState = [configured] }
        for store in stores { try fixture.service.add(privateStateStore: store) }
        await fixture.service.clearAuthorization()
        #expect(log.lines.withLock { $0 } == ["configured", "b", "a", "c"].map { $0 + " https://h" })
        withExtendedLifetime(stores) {}
    }

    @Test("Clearing credentials waits for a store that has joined")
    func waits() async throws {
        let log = Log()
        let gate = LoopbackGate()
        let store = Store("slow", log, gate: gate)
        // The clock does not move, so the wait has no end of its own.
        let service = try ServiceFixture { $0.clock = ManualClock().requestClock }.service
        try service.add(privateStateStore: store)
        let clearing = Task {
            await service.clearAuthorization()
            log.add("returned")
        }
        for _ in 0..<1_000 { await Task.yield() }
        #expect(log.lines.withLock { $0 } == [])
        gate.open()
        await clearing.value
        #expect(log.lines.withLock { $0 } == ["slow https://h", "returned"])
        withExtendedLifetime(store) {}
    }

    @Test("A store that joins twice is cleared once")
    func twice() async throws {
        let log = Log()
        let store = Store("one", log)
        let service = try ServiceFixture().service
        for _ in 0..<3 { try service.add(privateStateStore: store) }
        await service.clearAuthorization()
        #expect(log.lines.withLock { $0 }.count == 1)
        #expect(service.privateState.memberCount == 1)
        withExtendedLifetime(store) {}
    }

    @Test("A service does not keep a joined store alive, and forgets it after its death")
    func weakness() async throws {
        let log = Log()
        let service = try ServiceFixture().service
        let kept = Store("kept", log)
        weak var died: Store?
        do {
            let store = Store("dying", log)
            died = store
            try service.add(privateStateStore: store)
            try service.add(privateStateStore: kept)
            withExtendedLifetime(store) {}
        }
        #expect(died == nil)
        await service.clearAuthorization()
        #expect(log.lines.withLock { $0 } == ["kept https://h"])
        #expect(service.privateState.memberCount == 1)
        withExtendedLifetime(kept) {}
    }

    @Test("A store lives until the clearing that has begun is over")
    func duringClearing() async throws {
        let log = Log()
        let gate = LoopbackGate()
        let service = try ServiceFixture().service
        let first = Store("first", log, gate: gate)
        var second: Store? = Store("second", log)
        weak let watched = second
        try service.add(privateStateStore: first)
        if let second { try service.add(privateStateStore: second) }
        let clearing = Task.immediate { await service.clearAuthorization() }
        second = nil
        #expect(watched != nil)
        gate.open()
        await clearing.value
        // The second one does not wait for the first one.
        #expect(log.lines.withLock { $0 } == ["second https://h", "first https://h"])
        #expect(watched == nil)
    }

    @Test("A service refuses more living stores than its limit, and takes one again after the death of another")
    func limit() throws {
        let log = Log()
        let service = try ServiceFixture().service
        var stores = (0..<HTTPDataRequestService.privateStateStoreLimit).map { Store("\($0)", log) }
        for store in stores { try service.add(privateStateStore: store) }
        let late = Store("late", log)
        let failure = #expect(throws: RequestFailure.self) { try service.add(privateStateStore: late) }
        #expect(failure?.reason == .resources)
        #expect(failure?.message.contains("1024") == true)
        // A store that has joined already is no new one.
        try service.add(privateStateStore: stores[7])
        stores.removeFirst()
        try service.add(privateStateStore: late)
        #expect(service.privateState.memberCount == HTTPDataRequestService.privateStateStoreLimit)
        withExtendedLifetime((stores, late)) {}
    }

    @Test("The registry of a decorated service is that of the service that sends, and a double has none")
    func registry() async throws {
        let log = Log()
        let store = Store("one", log)
        let service = try ServiceFixture().service
        let decorated: any DataRequestService = Decorator(next: Decorator(next: service))
        try decorated.privateStateRegistry?.add(privateStateStore: store)
        await service.clearAuthorization()
        #expect(log.lines.withLock { $0 } == ["one https://h"])
        #expect(Double().privateStateRegistry == nil)
        #expect(Decorator(next: Double()).privateStateRegistry == nil)
    }

    /// A store whose end adds another one, as a chain of caches could.
    private final class Chained: PrivateStateStore {
        let service: HTTPDataRequestService
        let replacement: Store
        let clearings = Atomic<Int>(0)

        init(_ service: HTTPDataRequestService, _ replacement: Store) {
            self.service = service
            self.replacement = replacement
        }

        deinit { try? service.add(privateStateStore: replacement) }

        func clearPrivateState(of origin: Origin) async { clearings.add(1, ordering: .relaxed) }
    }

    @Test("Stores join, die and are cleared at the same time, and each living one is cleared")
    func races() async throws {
        let log = Log()
        let service = try ServiceFixture().service
        let replacement = Store("replacement", log)
        let rounds = Rounds.racing(600)
        try await withThrowingTaskGroup { group in
            for _ in 0..<3 {
                group.addTask { @concurrent in
                    for _ in 0..<rounds {
                        let store = Chained(service, replacement)
                        try service.add(privateStateStore: store)
                        await service.clearAuthorization()
                        #expect(store.clearings.load(ordering: .relaxed) >= 1)
                        // Its end joins the replacement, while others look at all stores.
                    }
                }
            }
            try await group.waitForAll()
        }
        await service.clearAuthorization()
        #expect(service.privateState.memberCount == 1)
        withExtendedLifetime(replacement) {}
    }
}
