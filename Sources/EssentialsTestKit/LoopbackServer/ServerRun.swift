import EssentialsTools

/// The state of one running server, shared by its threads. The threads retain it, so it can
/// outlive the `LoopbackServer`.
final class ServerRun: Sendable {
    private struct State {
        var isStopped = false
        var acceptor: ServerThread?
        var accepted = 0
        var sockets: [Int: ConnectionSocket] = [:]
        var threads: [Int: ServerThread] = [:]
        var ended: [Int] = []
    }

    let handler: @Sendable (ServerRequest) -> ServerReply
    let options: ServerOptions
    let tls: TLSContext?
    /// Signalled by `stop()`; every wait of the server includes it.
    let interruption = Wakeup()
    let records = Mutex(ServerRecords())
    let listener: LoopbackListener
    private let state = Mutex(State())

    init(
        tls: ServerTLS?, port: UInt16, options: ServerOptions,
        handler: @escaping @Sendable (ServerRequest) -> ServerReply
    ) throws(TestKitError) {
        self.handler = handler
        self.options = options
        self.tls = try tls?.makeContext()
        guard interruption.descriptor >= 0 else { throw TestKitError("No file descriptor for the loopback server.") }
        listener = try LoopbackListener(address: options.address, port: port)
    }

    var connectionCount: Int { state.withLock { $0.accepted } }
    var openConnectionCount: Int { state.withLock { $0.sockets.count } }
    var isStopped: Bool { state.withLock { $0.isStopped } }

    func start() throws(TestKitError) {
        do {
            let acceptor = try ServerThread { self.acceptConnections() }
            state.withLock { $0.acceptor = acceptor }
        } catch {
            listener.close()
            throw error
        }
    }

    /// Stops the server. Only the first call stops it and waits for the threads.
    func stop() {
        let acceptor = state.withLock { state -> ServerThread? in
            guard !state.isStopped else { return nil }
            state.isStopped = true
            return state.acceptor
        }
        guard let acceptor else { return }
        interruption.signal()
        acceptor.joinOrDetach()
        listener.close()
        // No thread is added after the acceptor has ended.
        let (sockets, threads) = state.withLock { state in
            defer { state.threads = [:] }
            return (Array(state.sockets.values), Array(state.threads.values))
        }
        for socket in sockets { socket.shutDown() }
        for thread in threads { thread.joinOrDetach() }
    }

    // MARK: Acceptor

    private func acceptConnections() {
        while !isStopped {
            let ready = Wakeup.wait(for: [listener.descriptor, interruption.descriptor])
            if ready.contains(interruption.descriptor) { return }
            joinEndedThreads()
            guard let descriptor = listener.accept() else {
                // The client has already left, or no descriptor is free. The wait prevents a busy loop.
                _ = Wakeup.wait(for: [interruption.descriptor], timeout: .milliseconds(1))
                continue
            }
            serve(ConnectionSocket(descriptor))
        }
    }

    private func serve(_ socket: ConnectionSocket) {
        let index = state.withLock { state in
            defer { state.accepted += 1 }
            state.sockets[state.accepted] = socket
            return state.accepted
        }
        do {
            let thread = try ServerThread {
                ServerConnection(index: index, socket: socket, run: self).serve()
                self.connectionEnded(index)
            }
            state.withLock { $0.threads[index] = thread }
        } catch {
            socket.reset()
            state.withLock { $0.sockets[index] = nil }
        }
    }

    private func connectionEnded(_ index: Int) {
        state.withLock { state in
            state.sockets[index] = nil
            state.ended.append(index)
        }
    }

    /// Joins ended threads. It runs on the acceptor's thread, which is the one that stores them.
    private func joinEndedThreads() {
        let threads = state.withLock { state in
            defer { state.ended = [] }
            return state.ended.compactMap { state.threads.removeValue(forKey: $0) }
        }
        for thread in threads { thread.joinOrDetach() }
    }
}

/// Everything that a server has recorded so far.
struct ServerRecords {
    private(set) var requests: [ServerRequest] = []
    private(set) var requestCount = 0
    var handshakes: [HandshakeRecord] = []
    var refusals: [String] = []
    var applicationBytes = 0
    private var recordedBytes = 0

    /// Counts a request, records it within the limits, and returns it with its number.
    mutating func add(_ request: ServerRequest, options: ServerOptions) -> ServerRequest {
        var request = request
        request.number = requestCount
        requestCount += 1
        if requests.count < options.recordedRequestMaximum,
            recordedBytes + request.body.count <= options.recordedByteMaximum
        {
            recordedBytes += request.body.count
            requests.append(request)
        }
        return request
    }
}
