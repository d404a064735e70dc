import EssentialsHTTP
import Testing

@testable import EssentialsTestKit

@Suite struct RunningExchangesTests {
    private let running = RunningExchanges()

    private func body(_ pieces: [ScriptedPiece]) throws -> ScriptedBody {
        let clock = ManualClock()
        return ScriptedBody(
            pieces, from: clock.now, pace: ScriptedPace(clock: clock, request: try scriptedRequest(), began: clock.now))
    }

    @Test func `Closing does not end removed exchanges, and no exchange can be added afterwards`() throws {
        let (kept, removed) = (try body(["a"]), try body(["b"]))
        #expect(running.add { kept.cancel() } != nil)
        let number = try #require(running.add { removed.cancel() })
        running.remove(number)
        running.close()
        #expect(kept.isEnded)
        #expect(!removed.isEnded)
        #expect(running.isClosed)
        #expect(running.add {} == nil)
    }

    @Test func `Releasing an unread body ends and removes it`() throws {
        weak var dropped: ScriptedBody?
        do {
            let body = try body(["a"])
            dropped = body
            let stream = try #require(ScriptedStream(body, in: running))
            #expect(!body.isEnded)
            withExtendedLifetime(stream) {}
        }
        #expect(dropped == nil)
    }

    @Test func `Closing does not end a body that was read completely`() async throws {
        let stream = try #require(ScriptedStream(try body(["a"]), in: running))
        #expect(try await stream.next()?.count == 1)
        #expect(try await stream.next() == nil)
        running.close()
        #expect(try await stream.next() == nil)
    }

    @Test func `No stream can be created after closing`() throws {
        running.close()
        #expect(ScriptedStream(try body(["a"]), in: running) == nil)
    }
}
