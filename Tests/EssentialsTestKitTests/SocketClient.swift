import CEssentialsTest
import EssentialsTestKit
import Glibc

/// A blocking client that reads and writes bytes and only knows where a response ends. Every read fails after ten
/// seconds. It is used by one thread.
final class SocketClient {
    let socket: Int32
    private var tls: OpaquePointer?
    private var unread: [UInt8] = []

    /// How a connection ended.
    enum End: Equatable {
        case orderly, reset, truncated, timeout
    }

    struct Response {
        var head = ""
        var body: [UInt8] = []

        var status: Int? { head.split(separator: " ").dropFirst().first.flatMap { Int($0) } }
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    init(port: UInt16) throws {
        Self.blockBrokenPipeSignal()
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
        let code = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw TestKitError("no connection: \(errno)") }
        guard cet_socket_limit_reading(socket, 10) else { throw TestKitError("no time limit: \(errno)") }
    }

    deinit {
        cet_tls_free(tls)
        close(socket)
    }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        if let tls {
            _ = cet_tls_write(tls, bytes, bytes.count)
        } else {
            _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }
    }

    /// Returns available bytes, or how the connection ended.
    func receive() -> Result<[UInt8], Ended> {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        if let tls {
            let count = cet_tls_read(tls, &buffer, buffer.count)
            return count > 0 ? .success(Array(buffer[..<count])) : .failure(Ended(count == 0 ? .orderly : .truncated))
        }
        let count = recv(socket, &buffer, buffer.count, 0)
        if count > 0 { return .success(Array(buffer[..<count])) }
        if count == 0 { return .failure(Ended(.orderly)) }
        return .failure(Ended(errno == ECONNRESET ? .reset : .timeout))
    }

    struct Ended: Error {
        let end: End

        init(_ end: End) {
            self.end = end
        }
    }

    /// Returns all bytes up to the end, and how the connection ended.
    func receiveAll() -> (text: String, end: End) {
        var bytes = unread
        unread = []
        while true {
            switch receive() {
            case .success(let more): bytes += more
            case .failure(let ended): return (String(decoding: bytes, as: UTF8.self), ended.end)
            }
        }
    }

    /// Reads one response with Content-Length or without a body.
    func response(isHead: Bool = false) throws -> Response {
        var result = Response()
        let separator = Array("\r\n\r\n".utf8)
        var end = Self.firstIndex(of: separator, in: unread)
        while end == nil {
            unread += try receive().get()
            end = Self.firstIndex(of: separator, in: unread)
        }
        let headEnd = end ?? 0
        result.head = String(decoding: unread[..<headEnd], as: UTF8.self)
        unread.removeFirst(headEnd + 4)
        let field = result.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
        let length = isHead ? 0 : field.flatMap { Int($0.dropFirst(15).drop { $0 == " " }) } ?? 0
        while unread.count < length { unread += try receive().get() }
        result.body = Array(unread[..<length])
        unread.removeFirst(length)
        return result
    }

    func exchange(_ text: String) throws -> Response {
        send(text)
        return try response()
    }

    private static func firstIndex(of needle: [UInt8], in bytes: [UInt8]) -> Int? {
        guard bytes.count >= needle.count else { return nil }
        return (0...bytes.count - needle.count).first { bytes[$0..<$0 + needle.count].elementsEqual(needle) }
    }

    /// OpenSSL writes with `write`, which would end the test process if the server has already closed.
    private static func blockBrokenPipeSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    // MARK: TLS

    /// A session for a later resumption.
    final class Session {
        let pointer: OpaquePointer

        init(_ pointer: OpaquePointer) {
            self.pointer = pointer
        }

        deinit {
            cet_session_free(pointer)
        }
    }

    struct TLSOptions {
        var anchor: TestCertificate?
        var identity: TestCertificate?
        var minimum = ServerTLS.Version.tls12
        var maximum = ServerTLS.Version.tls13
        var alpn = ""
        var host = "localhost"
        var session: Session?
    }

    /// Performs the client's side of a handshake, and returns the error or `nil`.
    func secure(_ options: TLSOptions) -> String? {
        var numbers = cet_options()
        numbers.minimum_version = options.minimum.rawValue
        numbers.maximum_version = options.maximum.rawValue
        var error = cet_error()
        guard
            let context = cet_client_context_create(
                &numbers, options.anchor?.certificatePEM, options.identity?.certificatePEM,
                options.identity?.privateKeyPEM, options.alpn, &error)
        else { return "no context" }
        defer { cet_context_free(context) }
        guard let tls = cet_tls_create(context, socket) else { return "no connection" }
        self.tls = tls
        if cet_tls_connect(tls, options.host, options.session?.pointer) { return nil }
        let facts = cet_tls_handshake(tls)
        return withUnsafeBytes(of: facts.error) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// The session for a resumption, available after the first read.
    func session() -> Session? {
        tls.flatMap { cet_tls_session($0) }.map { Session($0) }
    }

    /// The certificate that the server presented.
    func serverCertificate() -> String? {
        guard let tls, let text = cet_tls_peer_certificate(tls) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}

/// Polls for a condition that another thread establishes. Returns false after 30 seconds.
func becomesTrue(_ condition: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < deadline {
        if condition() { return true }
        usleep(1000)
    }
    return condition()
}
