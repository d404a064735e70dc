import Glibc

/// A server for one connection that reads an upload slowly and steadily, and then answers with how much it read.
final class SlowReader: Sendable {
    private let listener: Int32
    /// The port on 127.0.0.1.
    let port: UInt16

    /// - Parameters:
    ///   - total: How many bytes of body to read.
    ///   - step: How many of them at a time, with a pause of 15 ms before each step.
    init(total: Int, step: Int) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        listener = descriptor
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
        let work = Unmanaged.passRetained(Work(listener: descriptor, total: total, step: step))
        pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, work.toOpaque())
        pthread_detach(thread)
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    struct Failure: Error {
        var code: Int32
    }

    private final class Work: Sendable {
        let listener: Int32
        let total: Int
        let step: Int

        init(listener: Int32, total: Int, step: Int) {
            (self.listener, self.total, self.step) = (listener, total, step)
        }

        func run() {
            defer { close(listener) }
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return }
            defer { close(connection) }
            var buffer = [UInt8](repeating: 0, count: step)
            var count = 0
            // The head is a little more than the body's bytes say, so that all of the body has been read by then.
            while count < total {
                usleep(15_000)
                let received = recv(connection, &buffer, step, 0)
                guard received > 0 else { return }
                count += received
            }
            let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone".utf8)
            send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
            while recv(connection, &buffer, step, 0) > 0 {}
        }
    }
}
