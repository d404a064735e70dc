import CEssentialsTest
import EssentialsHTTP
import EssentialsTools
import Glibc

@testable import EssentialsTestKit

/// An HTTP/2 server on 127.0.0.1: over TLS with ALPN, or without TLS by prior knowledge.
///
/// One thread serves all connections, without blocking, and calls the handler; see `ServerLoop`.
final class HTTP2Server: Sendable {
    struct Options: Sendable {
        /// The server's certificate; `nil` serves without TLS.
        var certificate: TestCertificate?
        /// The protocols that the server selects with ALPN, best first.
        var applicationProtocols = ["h2", "http/1.1"]
        /// The most streams that a client may have open on a connection.
        var maximumStreams = 100
        /// `false` leaves request bodies unread: a client can send no more than one window of each.
        var readsRequests = true
        /// `true` calls the handler when a request's head has arrived, without waiting for its body.
        var answersHeads = false
        /// Whether connections end with a TCP reset, and without the closing alert of TLS.
        var resetsConnections = false
        /// Called on the server's thread with the number of body bytes that have been written to a socket.
        var onWritten: (@Sendable (Int) -> Void)?
        /// Called on the server's thread with the path of a stream that the client resets.
        var onReset: (@Sendable (String) -> Void)?
    }

    private let core: ServerCore
    private let isTLS: Bool
    private let port16: UInt16
    /// The server's thread; `nil` after it was joined.
    private let thread: Mutex<ServerThread?>

    static func start(
        _ options: Options, handler: @escaping @Sendable (StreamRequest) -> StreamReply
    ) async throws -> HTTP2Server {
        try HTTP2Server(options, handler: handler)
    }

    private init(_ options: Options, handler: @escaping @Sendable (StreamRequest) -> StreamReply) throws {
        isTLS = options.certificate != nil
        let core = try ServerCore(options: options, handler: handler)
        self.core = core
        let listener = try LoopbackListener(address: .ipv4, port: 0)
        port16 = listener.port
        do {
            thread = Mutex(try ServerThread { ServerLoop(core, listener: listener).run() })
        } catch {
            listener.close()
            throw error
        }
    }

    deinit {
        end()
    }

    var port: Int { Int(port16) }

    /// What the server has seen so far.
    var record: ServerRecord { core.record.withLock { $0 } }

    func url(_ path: String = "/") throws -> RequestURL {
        try RequestURL("\(isTLS ? "https" : "http")://127.0.0.1:\(port)\(path)")
    }

    /// Closes all connections and accepts no more.
    func stop() async { end() }

    private func end() {
        core.stop()
        let ending = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        ending?.joinOrDetach()
    }
}

/// The state that the thread of a test server shares with the test.
final class ServerCore: Sendable {
    /// A stream that may go on because its gate is open.
    struct Opened: Sendable {
        let connection: Int
        let stream: Int32
    }

    private struct Mail {
        var isStopped = false
        var opened: [Opened] = []
    }

    let options: HTTP2Server.Options
    let handler: @Sendable (StreamRequest) -> StreamReply
    let tls: TLSContext?
    let record = Mutex(ServerRecord())
    /// Readable while there is mail for the server's thread.
    let event: Int32
    private let mail = Mutex(Mail())

    init(options: HTTP2Server.Options, handler: @escaping @Sendable (StreamRequest) -> StreamReply) throws {
        self.options = options
        self.handler = handler
        tls = try options.certificate.map {
            try ServerTLS(certificate: $0, alpn: options.applicationProtocols).makeContext()
        }
        event = cet_event_create()
        guard event >= 0 else { throw TestKitError("No file descriptor for the HTTP/2 server.") }
    }

    deinit {
        close(event)
    }

    func stop() {
        mail.withLock { $0.isStopped = true }
        cet_event_signal(event)
    }

    /// Tells the server's thread that a gate is open.
    func post(_ opened: Opened) {
        mail.withLock { $0.opened.append(opened) }
        cet_event_signal(event)
    }

    /// The streams that may go on, or `nil` if the server stops.
    func takeMail() -> [Opened]? {
        var count: UInt64 = 0
        // The event is reset before the mail is taken, so that none is missed.
        _ = Glibc.read(event, &count, MemoryLayout<UInt64>.size)
        return mail.withLock { mail in
            if mail.isStopped { return nil }
            defer { mail.opened = [] }
            return mail.opened
        }
    }
}
