import Synchronization

/// A small HTTP/1.1 server on a loopback address, for tests and demonstrations: plain or over TLS, a thread per
/// connection, with replies in any framing and scripted faults, and a record of all that arrived.
///
/// ```swift
/// let server = try LoopbackServer { request in
///     request.path == "/hello" ? .response(body: "Hello, \(request.query("name") ?? "world")") : .reset
/// }
/// // … send requests to server.url …
/// #expect(server.requests.first?.header("Accept") == "application/json")
/// server.stop()
/// ```
///
/// Safe from any thread. The handler runs on the connections' threads, several at a time, and may block; `stop()` waits
/// for it. Not for untrusted clients: it trusts its memory maxima and starts a thread for everybody.
public final class LoopbackServer: Sendable {
    private let run: ServerRun
    private let isTLS: Bool

    /// Starts a server. Port 0 lets the system choose one.
    ///
    /// - Throws: when the port cannot be had, or the certificate, its key or an anchor cannot be used.
    public init(
        tls: ServerTLS? = nil, port: UInt16 = 0, options: ServerOptions = ServerOptions(),
        handler: @escaping @Sendable (ServerRequest) -> ServerReply
    ) throws(TestKitError) {
        isTLS = tls != nil
        run = try ServerRun(tls: tls, port: port, options: options, handler: handler)
        try run.start()
    }

    deinit {
        run.stop()
    }

    /// The port that the server listens on.
    public var port: UInt16 { run.listener.port }

    /// "http://127.0.0.1:PORT" or "https://localhost:PORT"; for `::1` "http://[::1]:PORT".
    public var url: String {
        if isTLS { return "https://localhost:\(port)" }
        return run.options.address == .ipv4 ? "http://127.0.0.1:\(port)" : "http://[::1]:\(port)"
    }

    /// All complete requests in the order of their arrival, up to the maxima in `ServerOptions`.
    public var requests: [ServerRequest] { run.records.withLock { $0.requests } }

    /// How many complete requests arrived, recorded or not.
    public var requestCount: Int { run.records.withLock { $0.requestCount } }

    /// How many connections were accepted.
    public var connectionCount: Int { run.connectionCount }

    /// How many connections are open at the moment.
    public var openConnectionCount: Int { run.openConnectionCount }

    /// The TLS handshakes in the order of their end.
    public var handshakes: [HandshakeRecord] { run.records.withLock { $0.handshakes } }

    /// What was wrong with bytes that were no request, in words.
    public var refusals: [String] { run.records.withLock { $0.refusals } }

    /// How many decrypted bytes were read, as parts of complete requests or not.
    public var applicationBytesReceived: Int { run.records.withLock { $0.applicationBytes } }

    /// Closes the listener and all connections, interrupts every step, and waits for the threads; also for handlers that
    /// run, except one that calls this itself. Only the first call does anything; deinit makes it if nobody did.
    public func stop() {
        run.stop()
    }
}
