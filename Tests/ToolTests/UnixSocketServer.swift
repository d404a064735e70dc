import Glibc
import Testing

/// A server on a Unix-domain socket that answers every request with the request's head. Releasing it stops it.
final class UnixSocketServer: Sendable {
    private let listener: Int32
    private let thread: pthread_t

    init(path: String) throws {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8) + [0]
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name.prefix($0.count)) }
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isBound && listen(listener, 1) == 0, "no socket could be made")
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(listener))
        let code = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, work.toOpaque())
        try #require(code == 0, "no thread could be made")
        self.listener = listener
        self.thread = thread
    }

    deinit {
        // Interrupts the wait for a connection. The descriptor belongs to the thread until the thread has ended.
        shutdown(listener, Int32(SHUT_RDWR))
        pthread_join(thread, nil)
        close(listener)
    }

    private final class Work: Sendable {
        private let listener: Int32

        init(_ listener: Int32) { self.listener = listener }

        func run() {
            while true {
                let connection = accept(listener, nil, nil)
                if connection >= 0 {
                    answer(connection)
                    close(connection)
                } else if errno != EINTR {
                    return
                }
            }
        }

        private func answer(_ connection: Int32) {
            var head: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while head.firstRange(of: Array("\r\n\r\n".utf8)) == nil {
                let count = recv(connection, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                head += buffer[..<count]
            }
            let fields = "HTTP/1.1 200 OK\r\nContent-Length: \(head.count)\r\nConnection: close\r\n\r\n"
            let response = Array(fields.utf8) + head
            send(connection, response, response.count, Int32(MSG_NOSIGNAL))
        }
    }
}
