import EssentialsTestKit
import FoundationEssentials
import Glibc
import Testing

extension ToolTests {
    @Suite("Tool: watch")
    struct WatchTests {
        /// A server whose content is confirmed once, then fails to load once, and has changed afterwards.
        private static func changingServer() throws -> LoopbackServer {
            try LoopbackServer { request in
                switch (request.number, request.header("If-None-Match")) {
                case (0, _): content("one", tag: "1")
                case (1, #""1""#): .response(status: 304, headers: [("ETag", #""1""#)])
                case (2, _): .response(status: 503, body: "busy")
                case (3, _): content("three", tag: "2")
                default: .response(status: 304)
                }
            }
        }

        private static func content(_ text: String, tag: String) -> ServerReply {
            .response(headers: [("Content-Type", "text/plain"), ("ETag", "\"\(tag)\"")], body: text)
        }

        /// Runs the watch until it has printed a number of lines, and ends it with SIGTERM.
        ///
        /// - Returns: The lines, and after them the exit code.
        private func watch(
            _ arguments: String, lines: Int, in directory: TemporaryDirectory? = nil
        ) async throws -> [String] {
            let script = """
                coproc TOOL { exec essentials watch \(arguments) 2>errors; }
                exec 3<&${TOOL[0]}
                pid=$TOOL_PID
                for ((n = 0; n < \(lines); n++)); do read -t 20 -r line <&3; printf '%s\\n' "$line"; done
                kill -TERM $pid
                wait $pid
                echo $?
                cat errors
                """
            return try await Shell.run(script, in: directory ?? TemporaryDirectory()).lines
        }

        @Test("First content, a confirmation, a failure that keeps the content, and a recovery are a line each")
        func lines() async throws {
            let server = try Self.changingServer()
            let lines = try await watch("\(server.url)/status --every 20ms", lines: 4)
            let time = #"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ "#
            let state = #"; (3|5) bytes of text/plain from network, \d+\.\d s old$"#
            let expected = [
                "newContent: status 200", "notModified: status 304", "failed: status: .*503.*",
                "newContent: status 200",
            ]
            try #require(lines.count == 5, "\(lines)")
            for (line, text) in zip(lines, expected) {
                let pattern = try Regex(time + text + state)
                #expect(line.firstMatch(of: pattern) != nil, "\(line)")
            }
            #expect(lines[2].contains("; 3 bytes") && lines[3].contains("; 5 bytes"))
            #expect(lines[4] == "0")
            #expect(server.requests[0].header("If-None-Match") == nil)
            #expect(server.requests.allSatisfy { $0.method == "GET" && $0.path == "/status" })
        }

        private struct Line: Decodable {
            struct Content: Decodable {
                let bytes: Int
                let mediaType, source: String
                let entityTag: String?
                let age: Double
            }
            struct Failure: Decodable {
                let reason, phase, message: String
            }

            let time, event: String
            let version: UInt64
            let status: Int?
            let content: Content?
            let failure: Failure?
        }

        @Test("With the JSON format each line is an object, and the load's begin is one as well if that is wanted")
        func json() async throws {
            let server = try Self.changingServer()
            let lines = try await watch("\(server.url) --every 20ms --loads --format json", lines: 8)
            try #require(lines.count == 9, "\(lines)")
            let objects = try lines.prefix(8).map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
            #expect(
                objects.map(\.event) == [
                    "requested", "newContent", "requested", "notModified", "requested", "failed", "requested",
                    "newContent",
                ])
            #expect(objects.map(\.status) == [nil, 200, nil, 304, nil, 503, nil, 200])
            #expect(objects.map(\.content?.bytes) == [nil, 3, 3, 3, 3, 3, 3, 5])
            #expect(objects.map(\.content?.entityTag).last == #""2""#)
            let contents = objects.dropFirst().map(\.content)
            #expect(contents.allSatisfy { $0?.source == "network" && $0?.mediaType == "text/plain" })
            #expect(objects.allSatisfy { ($0.content?.age ?? 0) >= 0 })
            #expect(objects.map { $0.failure?.reason } == [nil, nil, nil, nil, nil, "status", "status", nil])
            #expect(objects.map(\.version) == objects.map(\.version).sorted())
            #expect(lines[8] == "0")
        }

        @Test("The first load may fail for a reason that can pass by itself")
        func laterContent() async throws {
            let server = try LoopbackServer { request in
                [.reset, .response(status: 404), Self.content("x", tag: "1")][min(request.number, 2)]
            }
            let lines = try await watch("\(server.url) --every 20ms", lines: 3)
            try #require(lines.count == 4, "\(lines)")
            #expect(lines[0].contains(" failed: ") && lines[0].hasSuffix("; no content"))
            #expect(lines[1].contains(" failed: status: ") && lines[1].contains("404"))
            #expect(lines[2].contains(" newContent: status 200; 1 bytes"))
            #expect(lines[3] == "0")
        }

        @Test("If the URL has no scheme and the server speaks plain http, a hint follows the first failure")
        func hint() async throws {
            let server = try LoopbackServer { _ in .response() }
            let lines = try await watch("127.0.0.1:\(server.port) --every 20ms", lines: 2)
            try #require(lines.count == 4, "\(lines)")
            #expect(lines[0].contains(" failed: "))
            #expect(lines[3].hasPrefix("hint: The URL has no scheme"))
        }

        @Test("A path is loaded below the environment's base URL, with its header fields, the query and the options")
        func environment() async throws {
            let server = try LoopbackServer { _ in Self.content("x", tag: "1") }
            let directory = try TemporaryDirectory()
            _ = try directory.file(
                "api.json",
                #"{"environments": {"local": {"baseURL": "\#(server.url)/v1", "headers": {"X-Client": "here"}}}}"#)
            let lines = try await watch(
                "jobs/7?a=1 b==2 X-One:first --bearer token --environment api.json", lines: 1, in: directory)
            #expect(lines.last == "0", "\(lines)")
            let sent = try #require(server.requests.first)
            #expect(sent.target == "/v1/jobs/7?a=1&b=2")
            #expect(sent.header("X-Client") == "here" && sent.header("X-One") == "first")
            #expect(sent.header("Authorization") == "Bearer token")
        }

        @Test(
            "A URL that leaves the environment's base URL is refused like that of other commands",
            arguments: ["../x", "http://127.0.0.1:2/v1/x", "http://127.0.0.1:1/x", "a/%2e%2e/%2e%2e/x"])
        func outside(url: String) async throws {
            let directory = try TemporaryDirectory()
            let file = try directory.file(
                "api.json", #"{"environments": {"local": {"baseURL": "http://127.0.0.1:1/v1/"}}}"#)
            let result = try await tool("watch", url, "--environment", file)
            #expect(result.code == 64)
            #expect(result.reason == "invalidRequest", "\(result.errors)")
            #expect(result.output.isEmpty)
            #expect(try await tool("get", url, "--environment", file).errors == result.errors)
        }

        @Test("Ctrl-C and SIGTERM end the watch with success, also while a load runs", arguments: [SIGINT, SIGTERM])
        func signals(number: Int32) async throws {
            let arrived = LoopbackGate()
            let server = try LoopbackServer { _ in
                arrived.open()
                return .hang
            }
            let process = try ToolProcess(["watch", server.url])
            await arrived.opened()
            process.signal(number)
            let result = await process.end()
            #expect(result.code == 0)
            #expect(result.errors.isEmpty, "\(result.errors)")
            #expect(server.requestCount == 1)
        }

        @Test("A server that is not trusted ends the watch before anything is sent")
        func trust() async throws {
            let server = try TrustedServer()
            let result = try await tool("watch", server.server.url, "--every", "20ms")
            #expect(result.code == 1)
            #expect(result.reason == "trustChain", "\(result.errors)")
            #expect(result.text.contains(" failed: trustChain: "))
            #expect(server.server.applicationBytesReceived == 0)
            let pinned = try await tool(
                "watch", server.server.url, "--anchor", server.anchor, "--pin", TrustedServer.strangePin,
                "--single-pin")
            #expect(pinned.code == 1 && pinned.reason == "pinMismatch", "\(pinned.errors)")
        }

        @Test("A lasting failure after the first load is a line, and the watch goes on")
        func lastingFailure() async throws {
            let untrusted = try TrustedServer()
            let location = untrusted.server.url + "/"
            let server = try LoopbackServer { request in
                switch request.number {
                case 0: Self.content("one", tag: "1")
                case 1: .response(status: 307, headers: [("Location", location)])
                default: Self.content("three", tag: "2")
                }
            }
            let lines = try await watch("\(server.url) --every 20ms", lines: 3)
            try #require(lines.count >= 4, "\(lines)")
            #expect(lines[0].contains(" newContent: status 200; 3 bytes"))
            #expect(lines[1].contains(" failed: trustChain: ") && lines[1].contains("; 3 bytes"), "\(lines)")
            #expect(lines[2].contains(" newContent: status 200; 5 bytes"))
            #expect(lines[3] == "0", "\(lines)")
            #expect(untrusted.server.applicationBytesReceived == 0)
        }

        @Test("A response that exceeds the limit is a failure, and the watch goes on")
        func limit() async throws {
            let server = try LoopbackServer { _ in .response(body: String(repeating: "x", count: 2_000)) }
            let lines = try await watch("\(server.url) --every 20ms --max-body 1k", lines: 2)
            try #require(lines.count == 3, "\(lines)")
            #expect(lines[0].contains(" failed: tooLarge: ") && lines[1].contains(" failed: tooLarge: "))
        }

        @Test("Redirects are followed or refused as the options say")
        func redirects() async throws {
            let server = try LoopbackServer { request in
                request.path == "/old" ? .response(status: 307, headers: [("Location", "/new")]) : .response(body: "x")
            }
            #expect(try await watch("\(server.url)/old", lines: 1)[0].contains(" newContent: status 200; 1 bytes"))
            #expect(try await watch("\(server.url)/old --no-redirects", lines: 1)[0].contains(" failed: "))
        }

        @Test(
            "Invalid values and wrong usage have the exit code 64, and nothing is sent",
            arguments: [
                ["no url"], ["ftp://example.com/"], ["http://127.0.0.1:1/", "X A: one"],
                ["http://127.0.0.1:1/", "--every", "1ms"], ["http://127.0.0.1:1/", "--every", "2000m"],
                ["http://127.0.0.1:1/", "--every", "soon"], ["http://127.0.0.1:1/", "name=text"],
                ["http://127.0.0.1:1/", "--format", "xml"], [],
            ])
        func refused(arguments: [String]) async throws {
            let result = try await ToolProcess(["watch"] + arguments).end()
            #expect(result.code == 64, "\(result.errors)")
            #expect(result.output.isEmpty && !result.errors.isEmpty)
        }

        @Test("The watch ends without a message if nothing reads its output")
        func closedOutput() async throws {
            let server = try LoopbackServer { _ in Self.content("x", tag: "1") }
            let result = try await ToolProcess(["watch", server.url, "--every", "20ms"], output: .closedPipe).end()
            #expect(result.code == 141)
            #expect(result.errors.isEmpty)
        }
    }
}
