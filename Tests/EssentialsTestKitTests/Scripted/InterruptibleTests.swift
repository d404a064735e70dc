import EssentialsHTTP
import Testing

@testable import EssentialsTestKit

@Suite struct InterruptibleTests {
    private let operation = Interruptible<Int>(host: "h", phase: .queue)

    @Test func `An interruptible operation returns or throws the operation's outcome`() async throws {
        #expect(try await operation.run { () throws(RequestFailure) in 7 } == 7)
        let failing = Interruptible<Int>(host: "h", phase: .queue)
        let failure = await requestFailure {
            _ = try await failing.run { () throws(RequestFailure) in throw RequestFailure(.timeout, "Late.") }
        }
        #expect(failure?.message == "Late.")
    }

    @Test func `An operation that is cancelled before it runs does not start`() async {
        operation.reached(.sending)
        operation.cancel()
        let failure = await requestFailure {
            _ = try await operation.run { () throws(RequestFailure) in throw RequestFailure(.timeout, "It began.") }
        }
        #expect(failure?.reason == .cancelled)
        #expect(failure?.phase == .sending)
        #expect(failure?.host == "h")
    }

    @Test func `The first outcome wins and cancels the operation's task`() async {
        let clock = ManualClock()
        let (ends, end) = AsyncStream.makeStream(of: Bool.self)
        let task = Task {
            await requestFailure {
                _ = try await operation.run { () throws(RequestFailure) in
                    try? await clock.sleep(for: .seconds(1))
                    end.yield(Task.isCancelled)
                    return 7
                }
            }
        }
        await clock.waitForSleepers(count: 1)
        operation.cancel()
        #expect(await task.value?.reason == .cancelled)
        #expect(await ends.first { _ in true } == true)
    }
}
