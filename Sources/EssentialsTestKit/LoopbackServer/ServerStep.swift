/// One step of a raw reply: bytes in any framing, a wait, or a way to end the connection.
///
/// ```swift
/// // A response that promises ten bytes, sends two, and resets the connection.
/// .raw([.head(headers: [("Content-Length", "10")]), .text("ab"), .reset])
/// ```
///
/// The steps run on the connection's thread. `LoopbackServer.stop()` interrupts every one of them.
public enum ServerStep: Sendable {
    /// Sends the bytes. When the peer is gone, the steps end here.
    case send([UInt8])
    /// Sends the bytes so many times.
    case repeatSend([UInt8], count: Int)
    /// Waits. What the client sends meanwhile stays unread.
    case pause(Duration)
    /// Reads until the closure, which is given all that this step has read, returns true or the client closes its side.
    case receive(until: @Sendable ([UInt8]) -> Bool)
    /// Waits until a test opens the gate.
    case gate(LoopbackGate)
    /// Reads and discards until the client closes its side.
    case waitForPeerClose
    /// Ends the connection in order: close_notify under TLS, then FIN.
    case close
    /// Ends the connection with FIN, without TLS's close_notify: a truncation. Over plain TCP the same as `close`.
    case closeWithoutNotify
    /// Ends the connection with RST.
    case reset
    /// Does nothing until the server is stopped.
    case hang
    /// Ends the steps and reads the next request of the connection.
    case keepAlive
}

extension ServerStep {
    /// Sends the text as UTF-8.
    public static func text(_ text: String) -> ServerStep {
        .send(Array(text.utf8))
    }

    /// Sends a response's status line and header section with these fields and no other.
    public static func head(status: Int = 200, headers: [(String, String)] = []) -> ServerStep {
        .send(ServerReply.head(status: status, headers: headers))
    }

    /// Sends one chunk of a response with "Transfer-Encoding: chunked". An empty chunk would end the body and sends
    /// nothing.
    public static func chunk(_ bytes: [UInt8]) -> ServerStep {
        .send(ServerReply.chunk(bytes))
    }

    /// Ends a chunked body, with the trailer fields if there are any.
    public static func lastChunk(trailers: [(String, String)] = []) -> ServerStep {
        .send(ServerReply.lastChunk(trailers: trailers))
    }
}
