import EssentialsTools
import Glibc

/// A server for one request with a body. It behaves unusually: it reads slowly and steadily, or it responds while it is
/// still reading.
final class UploadServer: Sendable {
    /// The server's handling of the body.
    enum Manner: Sendable {
        /// Reads at most this number of bytes every 15 ms, and responds "done" at the end.
        case slow(step: Int)
        /// Sends every byte back as soon as it has arrived.
        case echo
        /// Sends continuously while it reads, and at the end one byte: 1 if the body equals this one, otherwise 0.
        case flood(expecting: [UInt8])
    }

    private let listener: Listener
    /// The port on 127.0.0.1.
    let port: UInt16

    /// - Parameter total: The number of body bytes to read.
    init(total: Int, manner: Manner) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        listener = Listener(descriptor)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 1) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isBound else { throw Failure(code: errno) }
        port = UInt16(bigEndian: address.sin_port)
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(listener: listener, total: total, manner: manner))
        pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, work.toOpaque())
        pthread_detach(thread)
    }

    deinit { listener.interrupt() }

    struct Failure: Error {
        var code: Int32
    }

    /// The listening socket. Its thread closes it. Afterwards another test's socket can have the same number.
    private final class Listener: Sendable {
        let descriptor: Int32
        private let isClosed = Mutex(false)

        init(_ descriptor: Int32) { self.descriptor = descriptor }

        /// Ends a wait for a connection.
        func interrupt() {
            isClosed.withLock { isClosed in
                if !isClosed { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
            }
        }

        func close() {
            isClosed.withLock { isClosed in
                if !isClosed { Glibc.close(descriptor) }
                isClosed = true
            }
        }

        deinit { close() }
    }

    private final class Work: Sendable {
        let listener: Listener
        let total: Int
        let manner: Manner

        init(listener: Listener, total: Int, manner: Manner) {
            (self.listener, self.total, self.manner) = (listener, total, manner)
        }

        func run() {
            defer { listener.close() }
            let connection = accept(listener.descriptor, nil, nil)
            guard connection >= 0 else { return }
            defer { close(connection) }
            var body = readHead(connection)
            switch manner {
            case .slow(let step):
                var left = total - body.count
                while left > 0 {
                    usleep(15_000)
                    let piece = read(connection, step)
                    guard !piece.isEmpty else { return }
                    left -= piece.count
                }
                write(connection, Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone".utf8))
            case .echo:
                write(connection, Array("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n".utf8))
                var left = total
                while left > 0 {
                    if body.isEmpty { body = read(connection, 64 << 10) }
                    guard !body.isEmpty else { return }
                    write(connection, body)
                    left -= body.count
                    body = []
                }
            case .flood(let expected):
                write(connection, Array("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8))
                let isRight = Flood(connection).during { self.readBody(connection, from: body) } == expected
                write(connection, [isRight ? 1 : 0])
                return
            }
            while !read(connection, 4096).isEmpty {}
        }

        private func readBody(_ connection: Int32, from beginning: [UInt8]) -> [UInt8] {
            var body = beginning
            while body.count < total {
                let piece = read(connection, 64 << 10)
                guard !piece.isEmpty else { break }
                body += piece
            }
            return body
        }

        /// Reads to the end of the head, and returns the part of the body that arrived with it.
        private func readHead(_ connection: Int32) -> [UInt8] {
            var bytes: [UInt8] = []
            while true {
                if let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) { return Array(bytes[end.upperBound...]) }
                let piece = read(connection, 4096)
                if piece.isEmpty { return [] }
                bytes += piece
            }
        }

        private func read(_ connection: Int32, _ count: Int) -> [UInt8] {
            [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                initialized = max(0, recv(connection, buffer.baseAddress, count, 0))
            }
        }

        private func write(_ connection: Int32, _ bytes: [UInt8]) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }
}

/// Writes small pieces to a connection from its own thread.
private final class Flood: Sendable {
    private let connection: Int32
    private let isOver = Atomic<Bool>(false)

    init(_ connection: Int32) { self.connection = connection }

    func during<Result>(_ body: () -> Result) -> Result {
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Flood>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        defer {
            isOver.store(true, ordering: .relaxed)
            pthread_join(thread, nil)
        }
        return body()
    }

    private func run() {
        let piece = [UInt8](repeating: 7, count: 512)
        while !isOver.load(ordering: .relaxed) {
            guard send(connection, piece, piece.count, Int32(MSG_NOSIGNAL)) > 0 else { return }
        }
    }
}
