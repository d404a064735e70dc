import EssentialsHTTP

/// The reader's hold on a streamed body: what is dropped unread has ended.
final class ScriptedStream: ResponseBody.Source {
    private let body: ScriptedBody
    private let running: RunningExchanges
    private let number: Int

    /// Nil when the transport was shut down meanwhile.
    init?(_ body: ScriptedBody, in running: RunningExchanges) {
        guard let number = running.add({ body.cancel() }) else { return nil }
        self.body = body
        self.running = running
        self.number = number
    }

    deinit { cancel() }

    func next() async throws(RequestFailure) -> BodyChunk? {
        defer { if body.isEnded { running.remove(number) } }
        return try await body.next()
    }

    func cancel() {
        body.cancel()
        running.remove(number)
    }
}
