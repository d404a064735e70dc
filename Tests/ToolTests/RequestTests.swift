import EssentialsTestKit
import Glibc
import Testing

extension ToolTests {
    @Suite("Tool: requests")
    struct RequestTests {
        @Test(
            "A request has the method of its command",
            arguments: ["get", "post", "put", "patch", "delete", "head", "options"])
        func methods(command: String) async throws {
            let server = try LoopbackServer { _ in .response() }
            #expect(try await tool(command, server.url).code == 0)
            #expect(server.requests.first?.method == command.uppercased())
        }

        @Test("A request has the given method in its exact spelling", arguments: ["PURGE", "get", "M-SEARCH", "HEAD"])
        func givenMethod(method: String) async throws {
            let server = try LoopbackServer { _ in .response() }
            let body = method == "PURGE" ? ["--json", "[1]"] : []
            let result = try await ToolProcess(["request", method, server.url + "/a"] + body).end()
            #expect(result.code == 0, "\(result.errors)")
            #expect(server.requests.map(\.method) == [method])
            #expect(server.requests.map(\.target) == ["/a"])
            #expect(server.requests.map(\.bodyText) == [method == "PURGE" ? "[1]" : ""])
            #expect(result.text.hasPrefix("HTTP/1.1 200 OK\n") == (method == "HEAD"))
        }

        @Test(
            "A request keeps the unusual path of its URL",
            arguments: [
                ("", "/"), ("//a//b", "//a//b"), ("/a/../b?c=../d", "/b?c=../d"),
                ("/http://x.example/?y", "/http://x.example/?y"),
                ("/%7Ea/ü?z=ü#part", "/%7Ea/%C3%BC?z=%C3%BC"), ("?", "/?"),
            ])
        func target(path: String, target: String) async throws {
            let server = try LoopbackServer { _ in .response() }
            let result = try await tool("get", server.url + path)
            #expect(result.code == 0, "\(result.errors)")
            #expect(server.requests.map(\.target) == [target])
        }

        @Test("A request has the given query items and header fields in order")
        func queryAndHeaders() async throws {
            let server = try LoopbackServer { _ in .response() }
            let result = try await tool(
                "get", server.url + "/a?x=1", "--query", "q=a b&c=", "--query", "empty=", "--header", "X-A:  one",
                "--header", "x-a: two: three")
            #expect(result.code == 0)
            let request = try #require(server.requests.first)
            #expect(request.target == "/a?x=1&q=a%20b%26c%3D&empty=")
            #expect(request.allHeaders("X-A") == ["one", "two: three"])
            #expect(request.header("User-Agent")?.hasPrefix("essentials/") == true)
        }

        @Test("A JSON body has its content type unless a header field replaces it")
        func json() async throws {
            let server = try LoopbackServer { _ in .response() }
            let text = #"{"name": "Ada", "tags": [1, -2.5e3, null, true, "x"]}"#
            #expect(try await tool("post", server.url, "--json", text).code == 0)
            #expect(
                try await tool("put", server.url, "--json", "1", "--header", "Content-Type: application/x+json").code
                    == 0)
            #expect(server.requests.map(\.bodyText) == [text, "1"])
            #expect(server.requests.map { $0.header("Content-Type") } == ["application/json", "application/x+json"])
        }

        @Test("A body from text is a form, and one from a file or standard input has no content type")
        func data() async throws {
            let server = try LoopbackServer { _ in .response() }
            let directory = try TemporaryDirectory()
            let file = try directory.file("body", "from a file")
            #expect(try await tool("post", server.url, "--data", "-text").code == 0)
            #expect(try await tool("patch", server.url, "--data", "@" + file).code == 0)
            #expect(try await tool("delete", server.url, "--data", "@-", input: [0, 1, 2]).code == 0)
            #expect(server.requests.map(\.body) == [Array("-text".utf8), Array("from a file".utf8), [0, 1, 2]])
            #expect(
                server.requests.map { $0.header("Content-Type") } == ["application/x-www-form-urlencoded", nil, nil])
        }

        @Test("A request uses the address given with `--resolve`, including IPv6")
        func resolve() async throws {
            let server = try LoopbackServer { _ in .response(body: "here") }
            let result = try await tool(
                "get", "http://app.invalid:\(server.port)/", "--resolve", "app.invalid:\(server.port):127.0.0.1")
            #expect(result.text == "here")
            #expect(server.requests.first?.header("Host") == "app.invalid:\(server.port)")
            guard
                let other = try? LoopbackServer(
                    options: ServerOptions(address: .ipv6), handler: { _ in .response(body: "6") })
            else { return }
            let six = try await tool(
                "get", "http://app.invalid:\(other.port)/", "--resolve", "app.invalid:\(other.port):[::1]")
            #expect(six.text == "6")
        }

        @Test("A request uses the selected HTTP version and fails if it is not supported")
        func versions() async throws {
            let server = try TrustedServer()
            let first = try await tool("get", server.server.url, "--anchor", server.anchor, "--http1.1", "--include")
            #expect(first.text.hasPrefix("HTTP/1.1 200"))
            let second = try await tool("get", server.server.url, "--anchor", server.anchor, "--http2")
            #expect(second.code == 1)
            #expect(second.reason == "protocolViolation")
        }

        @Test("A request to a silent server fails at its timeout", arguments: ["300ms", "0.3", "0.3s"])
        func timeout(time: String) async throws {
            let server = try LoopbackServer { _ in .hang }
            let result = try await tool("get", server.url, "--timeout", time)
            #expect(result.code == 1)
            #expect(result.reason == "timeout")
            // The message names the time limit that was in force, which is not the default.
            #expect(result.errors.contains("did not finish within 0.3 seconds."), "\(result.errors)")
        }

        @Test("A signal cancels a request and removes the hidden file", arguments: [SIGINT, SIGTERM])
        func signals(number: Int32) async throws {
            let directory = try TemporaryDirectory()
            let arrived = LoopbackGate()
            let server = try LoopbackServer { _ in
                arrived.open()
                return .raw([.head(headers: [("Content-Length", "10")]), .text("half"), .hang])
            }
            let process = try ToolProcess(["get", server.url, "--output", directory.path + "/out"])
            await arrived.opened()
            process.signal(number)
            let result = await process.end()
            #expect(result.code == 128 + number)
            #expect(result.reason == "cancelled")
            #expect(try directory.names.isEmpty)
        }

        @Test("A signal ends a request whose output is blocked")
        func stalledOutput() async throws {
            let arrived = LoopbackGate()
            let server = try LoopbackServer { _ in
                arrived.open()
                return .raw([.head(), .repeatSend([UInt8](repeating: 7, count: 1024), count: 1 << 20), .close])
            }
            let process = try ToolProcess(["get", server.url], output: .stalledPipe)
            await arrived.opened()
            process.signal(SIGINT)
            #expect(await process.end().code == 130)
        }
    }
}
