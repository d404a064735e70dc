import Dispatch
import EssentialsTools
import EssentialsTransport

/// A link whose peer is the test: it sees what is sent, and sends what it wants.
final class ScriptedLink: ByteLink {
    private struct State {
        var receiver: (any LinkReceiver)?
        var sent: [UInt8] = []
        var isClosed = false
        var isFull = false
    }

    private let state = Mutex(State())
    private let reply: @Sendable (String) -> String?
    /// Where replies come from, in order.
    private let thread = DispatchQueue(label: "scripted link")

    /// - Parameter reply: What the peer sends when it has received a command; `nil` for nothing.
    init(reply: @escaping @Sendable (String) -> String? = { _ in nil }) { self.reply = reply }

    func attach(_ receiver: any LinkReceiver) { state.withLock { $0.receiver = receiver } }

    /// What was sent.
    var sent: String { state.withLock { String(decoding: $0.sent, as: UTF8.self) } }
    var isClosed: Bool { state.withLock { $0.isClosed } }
    /// Whether further bytes are refused.
    var isFull: Bool {
        get { state.withLock { $0.isFull } }
        set { state.withLock { $0.isFull = newValue } }
    }

    /// Sends bytes to the client.
    func receive(_ text: String) {
        let receiver = state.withLock { $0.receiver }
        Array(text.utf8).withUnsafeBytes { receiver?.linkReceived($0) }
    }

    /// Ends the link.
    func end() {
        let receiver = state.withLock { $0.receiver }
        receiver?.linkEnded(RequestFailure(.interrupted, "The peer has closed the connection."))
    }

    // MARK: ByteLink

    func send(_ bytes: consuming [UInt8]) -> Bool {
        let bytes = bytes
        let isSent = state.withLock { state in
            guard !state.isClosed, !state.isFull else { return false }
            state.sent += bytes
            return true
        }
        if isSent, let text = reply(String(decoding: bytes, as: UTF8.self)) { thread.async { self.receive(text) } }
        return isSent
    }

    var unsentBytes: Int { 0 }
    func pause() {}
    func resume() {}
    func close() { state.withLock { $0.isClosed = true } }
}

/// Opens links whose peers reply to each command by itself.
struct ScriptedServer: LinkOpening {
    /// The reply to a command; `nil` for none.
    var reply: @Sendable (String) -> String? = { _ in "+OK\r\n" }

    func openLink(to target: LinkTarget, receiver: any LinkReceiver) async throws(RequestFailure) -> any ByteLink {
        let link = ScriptedLink(reply: reply)
        link.attach(receiver)
        return link
    }
}
