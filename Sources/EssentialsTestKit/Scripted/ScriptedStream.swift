import EssentialsHTTP
import EssentialsTools

/// The source of a streamed body. Releasing it unread ends the body.
final class ScriptedStream: ResponseBody.Source {
    private let body: ScriptedBody
    private let running: RunningExchanges
    private let number: Int
    private let makeEnding: @Sendable () -> ResponseEnding
    private let atEnd = Mutex<ResponseEnding?>(nil)

    /// Returns `nil` if the transport has been shut down.
    init?(
        _ body: ScriptedBody, in running: RunningExchanges,
        makeEnding: @escaping @Sendable () -> ResponseEnding = { ResponseEnding() }
    ) {
        guard let number = running.add({ body.cancel() }) else { return nil }
        self.body = body
        self.running = running
        self.number = number
        self.makeEnding = makeEnding
    }

    deinit { cancel() }

    func next() async throws(RequestFailure) -> BodyChunk? {
        defer { if body.isEnded { running.remove(number) } }
        let chunk = try await body.next()
        if chunk == nil { atEnd.withLock { if $0 == nil { $0 = makeEnding() } } }
        return chunk
    }

    var ending: ResponseEnding? { atEnd.withLock { $0 } }

    func cancel() {
        body.cancel()
        running.remove(number)
    }
}
