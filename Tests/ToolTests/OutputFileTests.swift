import EssentialsTestKit
import FoundationEssentials
import Glibc
import Testing

extension ToolTests {
    @Suite("Tool: output files")
    struct OutputFileTests {
        private let directory: TemporaryDirectory
        private var path: String { directory.path + "/out" }

        init() throws { directory = try TemporaryDirectory() }

        @Test("An output file contains the body, and standard output contains only the requested head")
        func whole() async throws {
            let server = try LoopbackServer { _ in .response(body: [0, 1, 2, 0]) }
            let result = try await tool("get", server.url, "--output", path, "--include")
            #expect(result.code == 0)
            #expect(result.text.hasPrefix("HTTP/1.1 200 OK\n"))
            #expect(try directory.names == ["out"])
            #expect(try directory.contents("out") == [0, 1, 2, 0])
        }

        @Test("An output file is not created if the server closes within the body")
        func half() async throws {
            let server = try LoopbackServer { _ in
                .raw([.head(headers: [("Content-Length", "10")]), .text("half"), .close])
            }
            let result = try await tool("get", server.url, "--output", path)
            #expect(result.code == 1)
            #expect(result.reason == "interrupted")
            #expect(try directory.names.isEmpty)
        }

        @Test(
            "An existing output file is not changed by failures and unexpected statuses",
            arguments: ["/half", "/status", "/large"])
        func untouched(path target: String) async throws {
            let server = try LoopbackServer { request in
                switch request.path {
                case "/half": .raw([.head(headers: [("Content-Length", "10")]), .text("half"), .reset])
                case "/status": .response(status: 500, body: "sorry")
                default: .response(body: [UInt8](repeating: 7, count: 4096))
                }
            }
            _ = try directory.file("out", "old")
            let result = try await tool("get", server.url + target, "--output", path, "--max-body", "1k")
            #expect(result.code == 1)
            #expect(result.text == (target == "/status" ? "sorry" : ""))
            #expect(try directory.names == ["out"])
            #expect(try directory.contents("out") == Array("old".utf8))
        }

        @Test("The next run with a name removes the hidden file of a killed run, and not that of a running one")
        func killed() async throws {
            let server = try LoopbackServer { request in
                request.path == "/slow"
                    ? .raw([.head(headers: [("Content-Length", "10")]), .text("half"), .hang])
                    : .response(body: "new")
            }
            _ = try directory.file("out", "old")
            // Of another name, of a user, and of a program that ended long ago.
            for name in [".other.1f.part", ".out.note.part", ".out.3c.part"] { _ = try directory.file(name, "x") }
            func slow(_ count: Int) async throws -> ToolProcess {
                let process = try ToolProcess(["get", server.url + "/slow", "--output", path])
                while server.requests.count < count { await Task.yield() }
                return process
            }
            let first = try await slow(1)
            let names = Set(try directory.names)
            first.signal(SIGKILL)
            _ = await first.end()
            #expect(names.subtracting([".other.1f.part", ".out.note.part", "out"]).count == 1)
            #expect(Set(try directory.names) == names)
            let second = try await slow(2)
            let present = Set(try directory.names)
            #expect(present.count == 4 && present != names)
            #expect(try await tool("get", server.url, "--output", path).code == 0)
            #expect(Set(try directory.names) == present)
            #expect(try directory.contents("out") == Array("new".utf8))
            second.signal(SIGTERM)
            _ = await second.end()
            #expect(try directory.names == [".other.1f.part", ".out.note.part", "out"])
        }

        @Test("An existing output file is replaced by a resumable download")
        func replacedByDownload() async throws {
            let server = try LoopbackServer { _ in .response(body: "new") }
            _ = try directory.file("out", "old")
            #expect(try await tool("get", server.url, "--output", path, "--resume").code == 0)
            #expect(try directory.contents("out") == Array("new".utf8))
        }

        @Test("An existing output file is replaced and keeps its permissions")
        func replaced() async throws {
            let server = try LoopbackServer { _ in .response(body: "new") }
            let old = try directory.file("out", "old")
            #expect(chmod(old, 0o640) == 0)
            #expect(try await tool("get", server.url, "--output", path).code == 0)
            #expect(try directory.names == ["out"])
            #expect(try directory.contents("out") == Array("new".utf8))
            var status = stat()
            #expect(lstat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o640)
        }

        @Test("A symbolic link as output file is replaced, and its target is not changed")
        func link() async throws {
            let server = try LoopbackServer { _ in .response(body: "new") }
            _ = try directory.file("other", "old")
            #expect(symlink("other", path) == 0)
            #expect(try await tool("get", server.url, "--output", path).code == 0)
            #expect(try directory.names == ["other", "out"])
            #expect(try directory.contents("other") == Array("old".utf8))
            var status = stat()
            #expect(lstat(path, &status) == 0)
            #expect(status.st_mode & S_IFMT == S_IFREG)
            #expect(try directory.contents("out") == Array("new".utf8))
        }

        @Test("A device as output file is written to and stays a device")
        func device() async throws {
            let server = try LoopbackServer { _ in .response(body: "new") }
            #expect(try await tool("get", server.url, "--output", "/dev/null").code == 0)
            var status = stat()
            #expect(stat("/dev/null", &status) == 0)
            #expect(status.st_mode & S_IFMT == S_IFCHR)
        }

        @Test(
            "An output file that cannot be created is the error `file`, and nothing is sent",
            arguments: ["", "/missing/out"])
        func impossible(suffix: String) async throws {
            let server = try LoopbackServer { _ in .response() }
            let result = try await tool("get", server.url, "--output", directory.path + suffix)
            #expect(result.code == 1)
            #expect(result.reason == "file")
            #expect(server.connectionCount == 0)
        }
    }
}
