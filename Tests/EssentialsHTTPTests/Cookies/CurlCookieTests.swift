import EssentialsHTTP
import FoundationEssentials
import Glibc
import TestTools
import Testing

private let curlProgram = "/usr/bin/curl"

/// Shares cookie files with the curl program.
@Suite(.enabled(if: access(curlProgram, X_OK) == 0, "There is no /usr/bin/curl."))
struct CurlCookieTests {

    private let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    private struct Failed: Error { let what: String }

    private func start(_ arguments: [String]) throws -> pid_t {
        var words = ([curlProgram, "-q", "-s", "--max-time", "20", "--noproxy", "*"] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        words.append(nil)
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        var child: pid_t = 0
        guard posix_spawn(&child, curlProgram, nil, nil, words, &environment) == 0 else {
            throw Failed(what: "posix_spawn")
        }
        return child
    }

    private func wait(_ child: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return status
    }

    /// A server on the loopback interface that answers one request.
    private final class Server {
        private let descriptor: Int32
        let port: UInt16

        init() throws {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            self.descriptor = descriptor
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, size) == 0 && listen(descriptor, 1) == 0
                        && getsockname(descriptor, $0, &size) == 0
                }
            }
            guard isBound else { throw Failed(what: "bind") }
            port = UInt16(bigEndian: address.sin_port)
            var limit = timeval(tv_sec: 20, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        }

        deinit { close(descriptor) }

        /// Waits for a request, answers it with these header lines, and returns its text.
        func answer(_ lines: [String]) throws -> String {
            let connection = accept(descriptor, nil, nil)
            guard connection >= 0 else { throw Failed(what: "accept") }
            defer { close(connection) }
            var request: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while !request.suffix(4).elementsEqual("\r\n\r\n".utf8) {
                let count = recv(connection, &buffer, buffer.count, 0)
                guard count > 0 else { throw Failed(what: "recv") }
                request += buffer[..<count]
            }
            let head = (["HTTP/1.1 200 OK", "Content-Length: 0", "Connection: close"] + lines).joined(separator: "\r\n")
            let bytes = Array((head + "\r\n\r\n").utf8)
            _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            return String(decoding: request, as: UTF8.self)
        }
    }

    private func cookieLine(_ request: String) -> String? {
        request.split(separator: "\r\n").first { $0.hasPrefix("Cookie: ") }.map(String.init)
    }

    /// Has curl send a request for `www.example.com` with the cookie file, and returns the request.
    private func run(path: String = "/", _ lines: [String]) throws -> String {
        let server = try Server()
        let child = try start([
            "-b", directory("cookies.txt"), "-c", directory("cookies.txt"), "--resolve",
            "www.example.com:\(server.port):127.0.0.1", "http://www.example.com:\(server.port)\(path)",
        ])
        let request = try server.answer(lines)
        try #require(self.wait(child) == 0)
        return request
    }

    @Test("curl sends the cookies that a jar has saved, and a jar reads those that curl has saved")
    func shared() async throws {
        let file = CookieFile(directory("cookies.txt"), keepsSessionCookies: true)
        let secure = try RequestURL("https://www.example.com/")
        let first = try CookieJar(file: file, publicSuffixes: sampleSuffixes)
        first.store("short=1; Path=/; Max-Age=600; HttpOnly", from: secure)
        first.store("long=\u{e9}\"2; Path=/a; Max-Age=600; Domain=example.com", from: secure)
        first.store("session=3; Path=/", from: secure)
        first.store("hidden=4; Path=/; Secure; Max-Age=600", from: secure)
        try await first.flush()

        let request = try run(
            path: "/a/b",
            ["Set-Cookie: curl=5; Path=/; Max-Age=600; Domain=example.com; HttpOnly", "Set-Cookie: short=6; Path=/"])
        let sent = try #require(cookieLine(request)).dropFirst("Cookie: ".count).split(separator: "; ").sorted()
        #expect(sent == ["long=\u{e9}\"2", "session=3", "short=1"])

        let second = try CookieJar(file: file, publicSuffixes: sampleSuffixes)
        let cookies = second.cookies(includingHTTPOnly: true).sorted { $0.name < $1.name }
        #expect(
            cookies.map { "\($0.name)=\($0.value)" } == [
                "curl=5", "hidden=4", "long=\u{e9}\"2", "session=3", "short=6",
            ])
        #expect(cookies.map(\.isHostOnly) == [false, true, false, true, true])
        #expect(cookies.map(\.isHTTPOnly) == [true, false, false, false, false])
        #expect(cookies.map(\.isSecure) == [false, true, false, false, false])
        #expect(cookies.map { $0.expires == nil } == [false, false, false, true, true])

        // The first jar takes over what curl has changed.
        first.store("last=7; Path=/; Max-Age=600", from: secure)
        try await first.flush()
        #expect(Set(first.cookies(includingHTTPOnly: true).map(\.value)) == ["\u{e9}\"2", "3", "4", "5", "6", "7"])
    }

    @Test("curl reads the exported text of a jar")
    func exported() throws {
        let jar = CookieJar(publicSuffixes: sampleSuffixes)
        let url = try RequestURL("http://www.example.com/")
        jar.store("a=1; HttpOnly", from: url)
        jar.store("b=; Path=/", from: url)
        try jar.netscapeText(includingHTTPOnly: true).write(to: URL(filePath: directory("cookies.txt")))
        let sent = try #require(cookieLine(try run([]))).dropFirst("Cookie: ".count).split(separator: "; ").sorted()
        #expect(sent == ["a=1", "b="])
    }
}
