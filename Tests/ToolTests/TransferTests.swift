import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Glibc
import Testing

@testable import essentials

extension ToolTests {
    @Suite("Tool: transfers")
    struct TransferTests {
        private let directory: TemporaryDirectory
        private var path: String { directory.path + "/out" }

        init() throws { directory = try TemporaryDirectory() }

        // MARK: Redirects

        @Test("Redirects are followed by default, and at most as many as allowed")
        func redirects() async throws {
            let server = try LoopbackServer { request in
                guard let left = Int(request.path.dropFirst()), left > 0 else { return .response(body: "arrived") }
                return .response(status: 302, headers: [("Location", "/\(left - 1)")], body: "moved")
            }
            #expect(try await tool("get", server.url + "/3").text == "arrived")
            #expect(try await tool("get", server.url + "/3", "--max-redirects", "3").text == "arrived")
            let stopped = try await tool("get", server.url + "/3", "--max-redirects", "2")
            #expect(stopped.code == 1 && stopped.reason == "redirectLimit")
            let none = try await tool("get", server.url + "/3", "--no-redirects", "--expect", "302")
            #expect(none.code == 0 && none.text == "moved")
            #expect(try await tool("get", server.url, "--no-redirects", "--max-redirects", "2").code == 64)
            #expect(try await tool("get", server.url, "--max-redirects", "-1").code == 64)
        }

        @Test("A redirect to another origin drops credentials")
        func credentials() async throws {
            let other = try LoopbackServer { .response(body: $0.header("Authorization") ?? "none") }
            let server = try LoopbackServer { _ in
                .response(status: 307, headers: [("Location", other.url + "/")])
            }
            let result = try await tool("get", server.url, "--header", "Authorization: Bearer secret")
            #expect(result.text == "none")
        }

        // MARK: Files

        @Test("A file is uploaded completely, and an invalid one is reported")
        func upload() async throws {
            let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }
            let server = try LoopbackServer { request in
                .response(body: request.body == bytes ? "same \(request.header("Content-Length") ?? "-")" : "other")
            }
            let file = directory.path + "/in"
            try Data(bytes).write(to: URL(filePath: file))
            #expect(try await tool("put", server.url, "--upload", file).text == "same 700000")
            let missing = try await tool("post", server.url, "--upload", directory.path + "/missing")
            #expect(missing.code == 1 && missing.reason == "file")
            #expect(try await tool("put", server.url, "--upload", file, "--data", "x").code == 64)
        }

        @Test("A file is uploaded without reading it into memory first")
        func uploadMemory() async throws {
            let size = 512 << 20
            // The server reads the body without keeping it and never responds, so the tool is still
            // running after the upload.
            let options = ServerOptions(bodyMaximum: size, onHead: { _ in .raw([.waitForPeerClose]) })
            let server = try LoopbackServer(options: options) { _ in .close }
            let file = try directory.file("large", "")
            try #require(truncate(file, off_t(size)) == 0)
            let process = try ToolProcess(["put", server.url, "--upload", file])
            let end = ContinuousClock.now + .seconds(120)
            while server.applicationBytesReceived < size, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(5))
            }
            let peak = peakMemory(of: process.identifier)
            process.signal(SIGKILL)
            let errors = await process.end().errors
            #expect(server.applicationBytesReceived >= size, "\(errors)")
            #expect(try #require(peak) < 256 << 20)
        }

        /// The peak memory use of a running process in bytes.
        private func peakMemory(of process: pid_t) -> Int? {
            guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
                let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
                let kilobytes = line.split(separator: " ").dropLast().last.flatMap({ Int($0) })
            else { return nil }
            return kilobytes << 10
        }

        @Test("A failed download is resumed and leaves only the file")
        func resume() async throws {
            let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 13 >> 4) }
            let server = try LoopbackServer { request in
                let tag = ("ETag", "\"one\"")
                if let range = request.header("Range"), request.header("If-Range") == "\"one\"" {
                    let start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
                    return .response(
                        status: 206, headers: [("Content-Range", "bytes \(start)-299999/300000"), tag],
                        body: Array(bytes[start...]))
                }
                return .raw([
                    .head(headers: [("Content-Length", "300000"), tag]), .send(Array(bytes[..<100_000])), .close,
                ])
            }
            let first = try await tool("get", server.url, "--output", path, "--resume")
            #expect(first.code == 1 && first.reason == "interrupted")
            #expect(try directory.names == ["out.part", "out.part.validator"])
            let second = try await tool("get", server.url, "--output", path, "--resume")
            #expect(second.code == 0, "\(second.errors)")
            #expect(try directory.names == ["out"])
            #expect(try directory.contents("out") == bytes)
            #expect(server.requests.last?.header("Range") == "bytes=100000-")
            #expect(try await tool("get", server.url, "--resume").code == 64)
        }

        @Test("A download to a file shows its progress on a terminal only")
        func progress() async throws {
            let server = try LoopbackServer { _ in .response(body: [UInt8](repeating: 1, count: 1_500_000)) }
            let piped = try await tool("get", server.url, "--output", path)
            #expect(piped.errors.isEmpty && piped.output.isEmpty)
            let shown = try Terminal.output(of: ["get", server.url, "--output", path])
            #expect(shown.contains("[########################] 100 %  1.5 MB of 1.5 MB"), "\(shown)")
            #expect(try directory.contents("out").count == 1_500_000)
        }

        @Test(
            "Progress is shown in one line",
            arguments: [
                (TransferProgress(bytes: 0, expected: 10), "[                        ]   0 %  0 B of 10 B  0 B/s"),
                (
                    TransferProgress(bytes: 512_000_000, expected: 1_024_000_000, rate: 98_200_000),
                    "[############            ]  50 %  512.0 MB of 1.0 GB  98.2 MB/s  0:05 left"
                ),
                (TransferProgress(bytes: 999, rate: 999_999), "999 B received  1.0 MB/s"),
                (
                    TransferProgress(bytes: 1, expected: 4_000_001, rate: 1_000),
                    "[                        ]   0 %  1 B of 4.0 MB  1.0 kB/s  1:06:40 left"
                ),
            ])
        func line(progress: TransferProgress, expected: String) {
            #expect(ProgressBar.text(of: progress, verb: "received") == expected)
        }

        // MARK: Connections

        @Test("A request uses the proxy or none, and an invalid proxy is refused")
        func proxy() async throws {
            let proxy = try LoopbackServer { .response(body: "proxied \($0.target)") }
            let result = try await tool("get", "http://example.test/a", "--proxy", proxy.url)
            #expect(result.text == "proxied http://example.test/a")
            #expect(try await tool("get", proxy.url + "/b", "--proxy", "none").text == "proxied /b")
            let wrong = try await tool("get", proxy.url, "--proxy", "ftp://127.0.0.1:1")
            #expect(wrong.code == 64 && wrong.reason == "invalidRequest")
        }

        @Test("A request uses the Unix-domain socket regardless of its URL")
        func unixSocket() async throws {
            let path = directory.path + "/http.sock"
            let server = try UnixSocketServer(path: path)
            let result = try await tool("get", "http://no-such-host.invalid:8080/v1?x=1", "--unix-socket", path)
            withExtendedLifetime(server) {}
            #expect(result.code == 0, "\(result.errors)")
            #expect(result.text.hasPrefix("GET /v1?x=1 HTTP/1.1\r\n"))
            #expect(result.text.contains("\r\nHost: no-such-host.invalid:8080\r\n"))
        }

        @Test("A missing Unix-domain socket fails with its reason")
        func missingUnixSocket() async throws {
            // This server would respond if the tool did not use the socket.
            let server = try LoopbackServer { _ in .response(body: "reached") }
            let result = try await tool("get", server.url, "--unix-socket", directory.path + "/none.sock")
            #expect(result.code == 1 && result.reason == "connection")
            #expect(server.connectionCount == 0)
            let long = try await tool(
                "get", "http://localhost/", "--unix-socket", "/" + String(repeating: "a", count: 200))
            #expect(long.code == 64 && long.reason == "invalidRequest")
        }
    }
}

/// Runs the tool on its own terminal.
private enum Terminal {
    /// The output on the terminal, from standard output and standard error.
    static func output(of arguments: [String]) throws -> String {
        let tool = try #require(ToolProcess.executable)
        // See ioctl_tty(2): TIOCSPTLCK unlocks the other side, TIOCGPTN returns its number.
        let main = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (locked, number) = (CInt(0), CUnsignedInt(0))
        try #require(main >= 0 && ioctl(main, 0x4004_5431, &locked) == 0 && ioctl(main, 0x8004_5430, &number) == 0)
        defer { close(main) }
        let terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(terminal >= 0)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_adddup2(&actions, terminal, descriptor)
        }
        var words: [UnsafeMutablePointer<CChar>?] = ([tool] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        let status = posix_spawn(&process, tool, &actions, nil, &words, environ)
        close(terminal)
        try #require(status == 0)
        var shown: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        // Reading fails when the tool has closed the terminal's other side.
        while true {
            let count = read(main, &buffer, buffer.count)
            guard count > 0 else { break }
            shown += buffer[..<count]
        }
        waitpid(process, nil, 0)
        return String(decoding: shown, as: UTF8.self)
    }
}
