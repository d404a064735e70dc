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

    @Test func `What is removed is not ended by closing, and nothing is added afterwards`() throws {
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

    @Test func `A body that is dropped unread has ended, and is let go`() throws {
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

    @Test func `A body that was read to its end is not ended again by closing`() async throws {
        let stream = try #require(ScriptedStream(try body(["a"]), in: running))
        #expect(try await stream.next()?.count == 1)
        #expect(try await stream.next() == nil)
        running.close()
        #expect(try await stream.next() == nil)
    }

    @Test func `There is no stream after closing`() throws {
        running.close()
        #expect(ScriptedStream(try body(["a"]), in: running) == nil)
    }
}
