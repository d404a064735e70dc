import EssentialsTools

/// A small HTTP/1.1 server on a loopback address, for tests and demonstrations. It serves plain connections or TLS with
/// one thread per connection, sends replies in any framing with scripted faults, and records everything that arrives.
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
/// Safe to use from any thread. The handler runs on the connections' threads, several calls at a time, and
/// may block; `stop()` waits for it. The server is not suited for untrusted clients, because it does not
/// limit the number of threads.
public final class LoopbackServer: Sendable {
    private let run: ServerRun
    private let isTLS: Bool

    /// Starts a server. With port 0 the system chooses a free port.
    ///
    /// - Throws: ``TestKitError`` if the port is not available, or if the certificate, its key or an
    ///   anchor cannot be used.
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

    /// The server's URL: "http://127.0.0.1:PORT", "http://[::1]:PORT" or "https://localhost:PORT".
    public var url: String {
        if isTLS { return "https://localhost:\(port)" }
        return run.options.address == .ipv4 ? "http://127.0.0.1:\(port)" : "http://[::1]:\(port)"
    }

    /// All complete requests in order of arrival, up to the limits in `ServerOptions`.
    public var requests: [ServerRequest] { run.records.withLock { $0.requests } }

    /// The number of complete requests, recorded or not.
    public var requestCount: Int { run.records.withLock { $0.requestCount } }

    /// The number of accepted connections.
    public var connectionCount: Int { run.connectionCount }

    /// The number of connections that are open now.
    public var openConnectionCount: Int { run.openConnectionCount }

    /// The TLS handshakes in the order in which they ended.
    public var handshakes: [HandshakeRecord] { run.records.withLock { $0.handshakes } }

    /// A description of each rejected sequence of bytes that was not a valid request.
    public var refusals: [String] { run.records.withLock { $0.refusals } }

    /// The number of decrypted bytes that were read, including those of incomplete requests.
    public var applicationBytesReceived: Int { run.records.withLock { $0.applicationBytes } }

    /// Closes the listener and all connections, interrupts every step, and joins the threads. It waits for
    /// running handlers, except for one that calls this method itself. Only the first call has an effect;
    /// `deinit` calls it as well.
    public func stop() {
        run.stop()
    }
}
