/// One step of a raw reply: bytes in any framing, a wait, or an end of the connection.
///
/// ```swift
/// // A response that promises ten bytes, sends two, and resets the connection.
/// ServerReply.raw([.head(headers: [("Content-Length", "10")]), .text("ab"), .reset])
/// ```
///
/// The steps run on the connection's thread. `LoopbackServer.stop()` interrupts each of them.
public enum ServerStep: Sendable {
    /// Sends the bytes. If the peer has closed the connection, no further step runs.
    case send([UInt8])
    /// Sends the bytes `count` times.
    case repeatSend([UInt8], count: Int)
    /// Sends what the closure returns, again and again, until it returns `nil` or the peer has closed the connection. The closure
    /// runs on the connection's thread and may wait. `stop()` waits for it.
    case sendWhile(@Sendable () -> [UInt8]?)
    /// Waits. Bytes that the client sends in the meantime stay unread.
    case pause(Duration)
    /// Reads until the closure returns true or the client closes its side. The closure receives all
    /// bytes read by this step.
    case receive(until: @Sendable ([UInt8]) -> Bool)
    /// Waits until a test opens the gate.
    case gate(LoopbackGate)
    /// Reads and discards until the client closes its side.
    case waitForPeerClose
    /// Closes the connection in an orderly way: close_notify under TLS, then FIN.
    case close
    /// Closes the connection with FIN but without TLS's close_notify, a truncation. Over plain TCP this equals `close`.
    case closeWithoutNotify
    /// Resets the connection with RST.
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

    /// Sends a response's status line and header section with exactly these fields.
    public static func head(status: Int = 200, headers: [(String, String)] = []) -> ServerStep {
        .send(ServerReply.head(status: status, headers: headers))
    }

    /// Sends one chunk of a response with "Transfer-Encoding: chunked". An empty chunk sends nothing,
    /// because it would end the body.
    public static func chunk(_ bytes: [UInt8]) -> ServerStep {
        .send(ServerReply.chunk(bytes))
    }

    /// Ends a chunked body, with trailer fields if there are any.
    public static func lastChunk(trailers: [(String, String)] = []) -> ServerStep {
        .send(ServerReply.lastChunk(trailers: trailers))
    }
}
