import Dispatch
import EssentialsHTTP
import EssentialsStorage
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Outbox: opening", .timeLimit(.minutes(5)))
struct OutboxOpeningTests {
    /// An environment that is read once while an outbox opens, and holds the opening until it is released.
    private final class HeldEnvironment: EnvironmentService {
        let baseURL: RequestURL
        let reached = Latch()
        private let released = DispatchSemaphore(value: 0)
        private let state = Mutex((isArmed: false, isOver: false))

        init(_ baseURL: RequestURL) { self.baseURL = baseURL }

        var snapshot: EnvironmentSnapshot {
            let isHeld = state.withLock { state in
                guard state.isArmed, !state.isOver else { return false }
                state.isOver = true
                return true
            }
            if isHeld {
                reached.open()
                released.wait()
            }
            return EnvironmentSnapshot(baseURL: baseURL)
        }

        func hold() { state.withLock { $0.isArmed = true } }
        func release() { released.signal() }

        /// Calls that hold the environment when the lock of the directory is written, which begins the opening.
        var calls: FileCalls {
            var calls = FileCalls.system
            calls.write = { [self, write = calls.write] descriptor, bytes in
                hold()
                return write(descriptor, bytes)
            }
            return calls
        }
    }

    let fixture: OutboxFixture
    private let held: HeldEnvironment
    private var transport: ScriptedTransport { fixture.transport }

    init() throws {
        fixture = try OutboxFixture()
        held = HeldEnvironment(fixture.environment.snapshot.baseURL)
    }

    /// Leaves two entries in the directory, and begins to open it again.
    private func reopened(partition: EntityPartition? = .shared) async throws -> Outbox {
        let outbox = try fixture.outbox()
        outbox.pause()
        for number in 1...2 { try await outbox.add(fixture.view(number)) }
        await outbox.close()
        var configuration = Outbox.Configuration()
        configuration.clock = fixture.clock.requestClock
        let next = try Outbox(
            OutboxFiles(fixture.directory, held.calls), fixture.requests, held, partition, nil, configuration)
        await held.reached.wait()
        return next
    }

    @Test("A drain and a list that begin while the outbox opens wait for its entries")
    func waits() async throws {
        let latch = Latch()
        transport.on(.post, "/v1/views").answer { _ in
            await latch.wait()
            return ScriptedAnswer()
        }
        let outbox = try await reopened()
        // They run up to their first wait.
        let list = Task.immediate { try await outbox.entries.count }
        let drain = Task.immediate {
            try await outbox.drain()
            return transport.requestCount
        }
        held.release()
        #expect(try await list.value == 2)
        latch.open()
        #expect(try await drain.value == 2)
        #expect(try await outbox.entries == [])
        await outbox.close()
    }

    @Test("A request that is added while the outbox opens comes after the existing entries")
    func adds() async throws {
        transport.on(.post, "/v1/views").answer(.ok)
        let outbox = try await reopened(partition: nil)
        await outbox.enter(.shared)
        let adding = Task.immediate { try await outbox.add(fixture.view(3)) }
        held.release()
        let id = try await adding.value
        try await outbox.drain()
        #expect(transport.requests.map(\.bodyText) == (1...3).map { "{\"id\":\($0)}" })
        #expect(id.number > 0)
        await outbox.close()
    }

    @Test("A reader of statuses that begins while the outbox opens finds the existing entries")
    func statuses() async throws {
        let outbox = try await reopened(partition: nil)
        var reader = outbox.statuses.makeAsyncIterator()
        held.release()
        for _ in 0..<2 { #expect(await reader.next()?.state == .otherPartition) }
        await outbox.close()
        #expect(await reader.next() == nil)
    }

    @Test("Opening an outbox that is closed meanwhile fails as closed")
    func closed() async throws {
        let outbox = try await reopened(partition: nil)
        let opening = Task.immediate { try await outbox.open() }
        let closing = Task { await outbox.close() }
        while !outbox.core.reading(\.isEnded) { await Task.yield() }
        held.release()
        let failure = await #expect(throws: RequestFailure.self) { try await opening.value }
        #expect(failure?.reason == .closed)
        await closing.value
    }

    @Test("A failed opening is tried again, and simultaneous calls share the opening that succeeds")
    func again() async throws {
        transport.on(.post, "/v1/views").answer(.ok)
        let path = fixture.directory
        #expect(FileManager.default.createFile(atPath: path, contents: Data()))
        let outbox = try fixture.outbox()
        for _ in 0..<2 {
            let failure = await #expect(throws: RequestFailure.self) { try await outbox.entries }
            #expect(failure?.reason == .file)
        }
        try FileManager.default.removeItem(atPath: path)
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 { group.addTask { try await outbox.open() } }
            try await group.waitForAll()
        }
        try await outbox.add(fixture.view(1))
        try await outbox.drain()
        #expect(transport.requestCount == 1)
    }
}
