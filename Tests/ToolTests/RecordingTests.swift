import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import essentials

extension ToolTests {
    @Suite("Tool: recordings, and requests that are only shown")
    struct RecordingTests {
        private func run(_ arguments: [String]) async throws -> ToolResult { try await ToolProcess(arguments).end() }

        @Test("With --har each hop is recorded without secrets, and har prints them as a waterfall")
        func records() async throws {
            let directory = try TemporaryDirectory()
            let file = directory.path + "/a.har"
            let server = try LoopbackServer { request in
                request.path == "/moved"
                    ? .response(status: 302, headers: [("Location", "/end?token=s3cret&n=1")])
                    : .response(headers: [("Content-Type", "application/json")], body: #"{"password":"s3cret"}"#)
            }
            let result = try await tool(
                "get", server.url + "/moved", "--har", file, "--har-bodies", "--bearer", "s3cret", "--cookie",
                "a=s3cret")
            #expect(result.code == 0, "\(result.errors)")
            let text = try String(decoding: Data(contentsOf: URL(filePath: file)), as: UTF8.self)
            #expect(!text.contains("s3cret"))
            let har = try HAR(contentsOf: file)
            #expect(har.entries.map(\.response.status) == [302, 200])
            #expect(har.entries.last?.response.body.text == #"{"password":"…"}"#)
            let listing = try await tool("har", file)
            #expect(listing.code == 0)
            let lines = listing.text.split(separator: "\n")
            #expect(lines.count == 4)
            #expect(lines[0].hasPrefix("began") && lines[0].hasSuffix("URL"))
            #expect(lines[1].contains("GET") && lines[1].contains("302") && lines[1].hasSuffix("/moved"))
            #expect(lines[2].contains("200") && lines[2].hasSuffix("/end?token=…&n=1"))
            #expect(lines[3].hasPrefix("2 exchanges in ") && lines[3].hasSuffix(" ms, none failed"))
            #expect(try await tool("har", file, "--failed").text == "0 exchanges\n")
        }

        @Test("The parts of each exchange stand on one axis of time")
        func waterfall() throws {
            func entry(_ seconds: Double, _ url: String, _ status: Int, _ timings: [Double]) -> HAR.Entry {
                var entry = HAR.Entry(
                    started: Date(timeIntervalSince1970: seconds), request: .init(method: "GET", url: url))
                entry.response = HAR.Response(status: status)
                let parts: [WritableKeyPath<HAR.Timings, Double>] = [
                    \.blocked, \.dns, \.connect, \.send, \.wait, \.receive,
                ]
                for (part, time) in zip(parts, timings) { entry.timings[keyPath: part] = time }
                return entry
            }
            var failed = entry(0.05, "https://h/\u{1B}[2J", 0, [-1, -1, -1, 0, 50, 0])
            failed.failure = HAR.Failure(reason: "timeout", message: "late")
            var cached = entry(0.1, "https://h/c", 200, [-1, -1, -1, 0, 0, 0])
            cached.source = "cache"
            let har = HAR(
                entries: [cached, entry(0, "https://h/a", 200, [10, 10, 20, 10, 40, 10]), failed], comment: "more")
            #expect(
                WaterfallText(har, onlyFailures: false).lines == [
                    "began     method  status  took                                                URL",
                    "0.0 ms    GET     200     100.0 ms  bbbbddddccccccccsssswwwwwwwwwwwwwwwwrrrr  https://h/a",
                    "50.0 ms   GET     0       50.0 ms                       wwwwwwwwwwwwwwwwwwww  https://h/\\u{1B}[2J (timeout)",
                    "100.0 ms  GET     200     0.0 ms                                           .  https://h/c (cache)",
                    "3 exchanges in 100.0 ms, 1 failed", "more",
                ])
            #expect(WaterfallText(HAR(), onlyFailures: true).lines == ["0 exchanges"])
        }

        @Test("A request that fails is recorded too")
        func failures() async throws {
            let directory = try TemporaryDirectory()
            let file = directory.path + "/a.har"
            let result = try await tool("get", "http://127.0.0.1:1/", "--har", file)
            #expect(result.code == 1 && result.reason == "connection")
            #expect(try HAR(contentsOf: file).entries.map(\.failure?.reason) == ["connection"])
            let listing = try await tool("har", file, "--failed")
            #expect(listing.text.contains("http://127.0.0.1:1/ (connection)"))
            #expect(listing.text.hasSuffix("1 failed\n"))
            #expect(try await tool("get", "http://127.0.0.1:1/", "--har", directory.path).reason == "file")
            try Data("{}".utf8).write(to: URL(filePath: file))
            #expect(try await tool("har", file).reason == "decoding")
            #expect(try await tool("har", directory.path + "/none").reason == "file")
        }

        @Test("With --offline the request is printed as it would be sent, and nothing is sent")
        func offline() async throws {
            let server = try LoopbackServer { _ in .response(body: "ok") }
            let arguments = [
                server.url + "/a?token=s3cret", "name=Ada", "password=s3cret", "X-Tenant:acme", "--bearer", "s3cret",
            ]
            let hidden = try await run(arguments + ["--offline"])
            #expect(hidden.code == 0, "\(hidden.errors)")
            let lines = hidden.text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines[0] == "POST /a?token=… HTTP/1.1")
            #expect(lines.contains("X-Tenant: acme") && lines.contains("Authorization: …"))
            #expect(lines.contains("Content-Type: application/json"))
            #expect(lines.suffix(2) == ["", #"{"name": "Ada", "password": "…"}"#])
            let shown = try await run(arguments + ["--offline", "--show-secrets"])
            #expect(shown.text.contains("Authorization: Bearer s3cret"))
            #expect(shown.text.hasSuffix(#"{"name": "Ada", "password": "s3cret"}"#))
            #expect(server.requestCount == 0)
        }

        @Test("The command of --curl has the socket and the credentials of Digest, whose password it hides")
        func commandOptions() async throws {
            let directory = try TemporaryDirectory()
            let path = directory.path + "/it's.sock"
            let server = try UnixSocketServer(path: path)
            let arguments = ["http://h.invalid/a", "--digest", "Ada:s3cret:x", "--unix-socket", path, "--curl"]
            let hidden = try await run(arguments)
            let socket = path.replacing("'", with: #"'\''"#)
            let begin = "curl --unix-socket '\(socket)' --digest --user 'Ada:…' -X 'GET' "
            #expect(hidden.text.hasPrefix(begin), "\(hidden.text)")
            let shown = try await run(arguments + ["--show-secrets"])
            #expect(shown.text.contains("--user 'Ada:s3cret:x'"))
            let curl = try await ToolProcess(
                ["-c", shown.text], environment: ["NO_PROXY": "*", "HOME": "/nonexistent"], program: "/bin/sh"
            ).end()
            withExtendedLifetime(server) {}
            #expect(curl.code == 0 && curl.text.hasPrefix("GET /a HTTP/1.1\r\n"), "\(curl.errors)")
            let abstract = try await run(["http://h.invalid/a", "--unix-socket", "@name", "--curl"])
            #expect(abstract.text.hasPrefix("curl --abstract-unix-socket 'name' -X"))
        }

        @Test(
            "The command of --curl connects and trusts as the tool does",
            arguments: [
                (["--resolve", "h.invalid:80:[::1]"], "--resolve 'h.invalid:80:[::1]'"),
                (["--proxy", "none", "--http1.1"], "--noproxy '*' --http1.1"),
                (["-x", "p.example:3128"], "--proxy 'p.example:3128'"),
                (["-x", "socks5h://Ada:s3cret@p.example"], "--proxy 'socks5h://Ada:…@p.example:1080'"),
                (
                    ["-x", "http://A%40b:s3cret@[::1]:8", "--show-secrets"],
                    "--proxy 'http://A%40b:s3cret@[::1]:8'"
                ),
                (["-x", "http://A%40b:s3cret@[::1]:8"], "--proxy 'http://A%40b:…@[::1]:8'"),
                (["--min-tls", "1.3", "--require-staple", "--http2"], "--http2 --cert-status --tlsv1.3"),
            ])
        func connection(options: [String], expected: String) async throws {
            let command = try await run(["http://h.invalid/a", "--curl"] + options)
            #expect(command.text.hasPrefix("curl \(expected) -X 'GET' "), "\(command.text) \(command.errors)")
        }

        @Test("The command of --curl reaches a server with a private authority that requires a client's certificate")
        func identity() async throws {
            let (server, options) = try TrustedServer.requiringCertificate()
            let command = try await run(
                [server.server.url, "--anchor", server.anchor, "--min-tls", "1.3", "--curl"] + options)
            let curl = try await ToolProcess(
                ["-c", command.text], environment: ["NO_PROXY": "*", "HOME": "/nonexistent"], program: "/bin/sh"
            ).end()
            #expect(curl.code == 0 && curl.text == "secret", "\(command.text) \(curl.errors)")
        }

        @Test("The command of --curl sends the same request")
        func command() async throws {
            let server = try LoopbackServer { _ in .response(body: "ok") }
            let arguments = [server.url + "/a?n=1", "name=it's", "X-Tenant:acme", "--bearer", "s3cret"]
            let hidden = try await run(arguments + ["--curl"])
            #expect(hidden.text.hasPrefix("curl -X 'POST' ") && !hidden.text.contains("s3cret"))
            let shown = try await run(arguments + ["--curl", "--show-secrets"])
            #expect(shown.code == 0 && server.requestCount == 0)
            _ = try await run(arguments)
            let curl = try await ToolProcess(
                ["-c", shown.text], environment: ["NO_PROXY": "*", "HOME": "/nonexistent"], program: "/bin/sh"
            ).end()
            #expect(curl.code == 0, "\(curl.errors)")
            let requests = server.requests
            #expect(requests.count == 2)
            for name in ["Authorization", "X-Tenant", "Content-Type", "User-Agent", "Accept", "Content-Length"] {
                #expect(requests.first?.allHeaders(name) == requests.last?.allHeaders(name))
            }
            #expect(requests.first?.body == requests.last?.body)
            #expect(requests.first?.target == requests.last?.target)
        }

        @Test(
            "Options that contradict each other are refused",
            arguments: [
                ["--offline", "--curl"], ["--offline", "--har", "a"], ["--curl", "--output", "a"], ["--har-bodies"],
                ["--har", ""], ["--offline", "--cache", "a"], ["--curl", "--model-cache", "a"], ["--show-secrets"],
                ["--offline", "--oauth-token-url", "https://h.example/"],
            ])
        func refused(options: [String]) async throws {
            #expect(try await run(["get", "http://127.0.0.1:1/"] + options).code == 64)
        }
    }
}
