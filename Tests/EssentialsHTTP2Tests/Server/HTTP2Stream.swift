import EssentialsTestKit
import FoundationEssentials

/// One stream of a connection: the received part of the request, and the remaining steps of the reply.
final class HTTP2Stream {
    let id: Int32
    var method = ""
    var path = ""
    var headers = HeaderList()
    var body = Data()
    /// Which request for its path this is, counted from 1.
    var ordinal = 0
    /// Whether the request has been counted, and neither side has ended the stream.
    var isOpen = false
    /// What is left to do once the handler has replied.
    var steps: ArraySlice<StreamStep> = []
    /// How many frames the current step has sent.
    var frameCount = 0
    /// The response's body and how much of it has been sent.
    var reply: StreamReply?
    var offset = 0
    /// Whether all of the body has been sent and only the stream's end is missing.
    var isBodySent = false
    /// Whether the end of the body may be sent.
    var mayEnd = false
    /// The task that waits for a gate.
    private var wait: Task<Void, Never>?

    init(id: Int32) {
        self.id = id
    }

    var isWaiting: Bool { wait != nil }

    /// Posts to the server's thread when a gate is open.
    func wait(for gate: LoopbackGate, _ core: ServerCore, connection: Int) {
        wait = Task { [id] in
            await gate.opened()
            if !Task.isCancelled { core.post(ServerCore.Opened(connection: connection, stream: id)) }
        }
    }

    func stopWaiting() {
        wait?.cancel()
        wait = nil
    }
}
