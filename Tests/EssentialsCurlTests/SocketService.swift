import EssentialsTools
import Glibc

/// A listener that serves each connection on its own thread. It ends with its last reference.
final class SocketService: Sendable {
    struct Failure: Error {
        var code: Int32
    }

    private let work: Work
    /// The port on 127.0.0.1; 0 for a Unix-domain socket.
    let port: UInt16

    /// - Parameter serve: Called on a connection's thread; the connection is closed afterwards.
    init(_ address: SocketAddress = .loopback(port: 0), serve: @escaping @Sendable (Connection) -> Void) throws {
        let descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let listener = SocketChannel(descriptor)
        guard address.call({ bind(descriptor, $0, $1) }) == 0, listen(descriptor, SOMAXCONN) == 0 else {
            throw Failure(code: errno)
        }
        port = address.family == AF_INET ? Self.port(of: descriptor) : 0
        work = Work(listener: listener, serve: serve)
        work.begin()
    }

    deinit { stop() }

    /// The number of accepted connections.
    var connectionCount: Int { work.state.withLock { $0.accepted } }

    /// The number of connections that are being served.
    var openConnectionCount: Int { work.state.withLock { $0.accepted - $0.served } }

    /// Closes the listener and all connections, and waits for the threads.
    func stop() { work.stop() }

    private static func port(of descriptor: Int32) -> UInt16 {
        var name = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return code == 0 ? UInt16(bigEndian: name.sin_port) : 0
    }
}

extension SocketService {
    /// A connection that is being served.
    struct Connection: Sendable {
        let channel: SocketChannel
        /// The number of the connection in its service, counted from 0.
        let index: Int
        fileprivate let work: Work

        /// Connects to a port of 127.0.0.1. The end of the service also ends that connection.
        func connect(to port: UInt16) -> SocketChannel? {
            guard let target = SocketChannel(port: port), work.add(target) else { return nil }
            return target
        }

        /// Reads and discards all bytes until the peer or the service ends.
        func hang() { while !channel.read().isEmpty {} }
    }

    /// The state that the threads share. They keep it alive, but not the service.
    fileprivate final class Work: Sendable {
        struct State {
            var isStopped = false
            var accepted = 0
            var served = 0
            var channels: [SocketChannel] = []
            var threads: [pthread_t] = []
        }

        let state = Mutex(State())
        private let listener: SocketChannel
        private let serve: @Sendable (Connection) -> Void

        init(listener: SocketChannel, serve: @escaping @Sendable (Connection) -> Void) {
            self.listener = listener
            self.serve = serve
        }

        func begin() { startThread { self.acceptAll() } }

        /// Adds a channel that is shut down at the end; false if the end has already come.
        func add(_ channel: SocketChannel) -> Bool {
            state.withLock { state in
                if !state.isStopped { state.channels.append(channel) }
                return !state.isStopped
            }
        }

        func stop() {
            let threads = state.withLock { state in
                state.isStopped = true
                for channel in state.channels { channel.shutDown() }
                defer { state.threads = [] }
                return state.threads
            }
            listener.shutDown()
            for thread in threads {
                if pthread_equal(thread, pthread_self()) != 0 {
                    pthread_detach(thread)
                } else {
                    pthread_join(thread, nil)
                }
            }
            listener.close()
        }

        private func acceptAll() {
            while true {
                let descriptor = accept(listener.descriptor, nil, nil)
                guard descriptor >= 0 else {
                    if errno == EINTR || errno == ECONNABORTED { continue }
                    return
                }
                let channel = SocketChannel(descriptor)
                guard add(channel) else { return }
                let index = state.withLock { state in
                    state.accepted += 1
                    return state.accepted - 1
                }
                startThread {
                    self.serve(Connection(channel: channel, index: index, work: self))
                    self.forget(channel)
                }
            }
        }

        private func forget(_ channel: SocketChannel) {
            channel.close()
            state.withLock { state in
                state.channels.removeAll { $0 === channel }
                state.served += 1
            }
        }

        private final class Body {
            let run: @Sendable () -> Void
            init(_ run: @escaping @Sendable () -> Void) { self.run = run }
        }

        /// No thread is started after the end, so that every thread is joined.
        private func startThread(_ run: @escaping @Sendable () -> Void) {
            state.withLock { state in
                guard !state.isStopped else { return }
                var thread = pthread_t()
                let body = Unmanaged.passRetained(Body(run))
                let code = pthread_create(
                    &thread, nil,
                    { argument in
                        if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                        return nil
                    }, body.toOpaque())
                if code == 0 { state.threads.append(thread) } else { body.release() }
            }
        }
    }
}
