import EssentialsHTTP
import EssentialsTestKit
import Testing

@testable import essentials

extension ToolTests {
    @Suite("Tool: forms that curl and HTTPie have")
    struct CurlFormTests {
        @Test("A command line that begins with a URL sends GET, or POST with a body")
        func withoutCommand() async throws {
            let server = try LoopbackServer { _ in .response(body: "here") }
            for (arguments, method, body) in [
                ([server.url + "/a"], "GET", ""), ([server.url, "a=1"], "POST", #"{"a": "1"}"#),
                (["-s", server.url, "-d", "x=1"], "POST", "x=1"), (["-X", "PURGE", server.url], "PURGE", ""),
                (["-XPUT", "-dx", server.url], "PUT", "x"), (["-I", server.url], "HEAD", ""),
                (["PUT", server.url, "a:=1"], "PUT", #"{"a": 1}"#), (["send", server.url], "GET", ""),
            ] {
                let result = try await ToolProcess(arguments).end()
                #expect(result.code == 0, "\(arguments): \(result.errors)")
                #expect(server.requests.last?.method == method, "\(arguments)")
                #expect(server.requests.last?.bodyText == body, "\(arguments)")
            }
        }

        @Test(
            "Only a word with a dot, slash or colon, or localhost, is a URL",
            arguments: [
                ("example.com", true), ("localhost", true), ("localhost:80", true), ("users/1", true),
                ("https://x", true), ("get", false), ("gte", false), ("GET", false), ("-v", false), ("--a=b.c", false),
                ("", false),
            ])
        func urlWords(word: String, isURL: Bool) {
            #expect(URLArgument.isURL(word) == isURL)
            let expanded = CommandLineForm.expanded([word], commands: ["get"])
            #expect(expanded == (isURL ? ["send", word] : word == "GET" ? ["get"] : [word]))
        }

        @Test(
            "Options before a URL belong to the command send, unless there is a command",
            arguments: [
                (["-v", "example.com"], ["send", "-v", "example.com"]), (["--help"], ["--help"]),
                (["-h", "a.b"], ["-h", "a.b"]), (["--version"], ["--version"]), ([], []), (["-x"], ["-x"]),
                (["-v", "get", "a.b"], ["-v", "get", "a.b"]),
            ])
        func leadingOptions(arguments: [String], expanded: [String]) {
            #expect(CommandLineForm.expanded(arguments, commands: ["get", "post"]) == expanded)
        }

        @Test(
            "A URL without a scheme is https",
            arguments: [
                ("example.com", "https://example.com/"),
                ("example.com/x?u=http://y", "https://example.com/x?u=http://y"),
                ("localhost", "https://localhost/"), ("localhost:8080/a", "https://localhost:8080/a"),
                ("127.0.0.1/a=b", "https://127.0.0.1/a=b"), ("[::1]:8443", "https://[::1]:8443/"),
                (":8080/x", "https://localhost:8080/x"), (":8443", "https://localhost:8443/"),
                (":/x", "https://localhost/x"), ("wiki:443/a", "https://wiki/a"),
                ("http://example.com", "http://example.com/"),
                ("HTTPS://Example.com", "https://example.com/"),
            ])
        func schemes(text: String, url: String) throws {
            #expect(try RequestURL(URLArgument.absolute(text)).description == url)
        }

        @Test(
            "A word that is unlikely to be a host is refused",
            arguments: ["users/1", "nonsense", "", "/a", "?q", "PUT"])
        func noHost(text: String) {
            let failure = #expect(throws: RequestFailure.self) { try URLArgument.absolute(text) }
            #expect(failure?.reason == .invalidRequest)
            #expect(failure?.remedy?.contains("https://host/path") == true)
        }

        @Test("A failed https request to this machine hints at plain http, which is used only if the URL names it")
        func plainServer() async throws {
            let server = try LoopbackServer { _ in .response() }
            let result = try await tool("127.0.0.1:\(server.port)")
            #expect(result.code == 1)
            #expect(result.errorLines.first?.hasPrefix("hint: The URL has no scheme") == true, "\(result.errors)")
            #expect(server.requests.isEmpty)
            let named = try await tool("http://127.0.0.1:\(server.port)")
            #expect(named.code == 0)
        }

        @Test("A timeout in the handshake hints at plain http only if the URL had no scheme")
        func quietServer() async throws {
            let silent = try LoopbackServer(options: ServerOptions(onAccept: { _ in [.hang] })) { _ in .hang }
            let result = try await tool("127.0.0.1:\(silent.port)", "--timeout", "300ms")
            #expect(result.errors.contains("error: timeout"), "\(result.errors)")
            #expect(result.errorLines.first?.hasPrefix("hint: The URL has no scheme") == true, "\(result.errors)")
            let named = try await tool("https://127.0.0.1:\(silent.port)", "--timeout", "300ms")
            #expect(named.reason == "timeout")
            #expect(!named.errors.contains("hint:"), "\(named.errors)")
        }

        @Test("A URL without a scheme reaches a server over TLS")
        func secure() async throws {
            let server = try TrustedServer()
            let result = try await tool("localhost:\(server.server.port)/a", "--anchor", server.anchor)
            #expect(result.text == "secret", "\(result.errors)")
        }

        @Test("Data is a form as in curl, and a file is sent unchanged without a type")
        func data() async throws {
            let server = try LoopbackServer { _ in .response() }
            let directory = try TemporaryDirectory()
            let file = try directory.file("body", "line\n")
            for arguments in [
                ["-d", "a=1", "--data", "b=2"], ["-d@" + file], ["-d", "a=1", "-d", "@" + file],
                ["-d", "{}", "-H", "Content-Type: application/json"],
            ] { #expect(try await ToolProcess(["post", server.url] + arguments).end().code == 0) }
            #expect(server.requests.map(\.bodyText) == ["a=1&b=2", "line\n", "a=1&line\n", "{}"])
            #expect(
                server.requests.map { $0.header("Content-Type") }
                    == ["application/x-www-form-urlencoded", nil, nil, "application/json"])
        }

        @Test("JSON comes from a file or standard input, and is checked")
        func json() async throws {
            let server = try LoopbackServer { _ in .response() }
            let directory = try TemporaryDirectory()
            let file = try directory.file("a.json", "[1.0, 1.0]\n")
            let bad = try directory.file("b.json", "[1,]")
            #expect(try await tool("post", server.url, "--json", "@" + file).code == 0)
            #expect(try await tool("post", server.url, "--json", "@-", input: Array("{}".utf8)).code == 0)
            for arguments in [["--json", "@" + bad], ["--json", "@"]] {
                #expect(try await ToolProcess(["post", server.url] + arguments).end().code == 64)
            }
            let binary = try await tool("post", server.url, "--json", "@-", input: [0x22, 0xff, 0x22])
            #expect(binary.code == 64)
            #expect(binary.reason == "invalidRequest")
            #expect(server.requests.map(\.bodyText) == ["[1.0, 1.0]\n", "{}"])
            #expect(server.requests.allSatisfy { $0.header("Content-Type") == "application/json" })
        }

        @Test("Short options mean what they mean in curl")
        func letters() async throws {
            let server = try LoopbackServer { request in
                request.path == "/start"
                    ? .response(status: 302, headers: [("Location", "/end")]) : .response(body: "end")
            }
            let directory = try TemporaryDirectory()
            let result = try await tool(
                "get", server.url + "/start", "-siL", "-H", "X-A: 1", "-u", "ada:secret", "-o", directory.path + "/out",
                "-m", "5")
            #expect(result.code == 0, "\(result.errors)")
            #expect(result.text.hasPrefix("HTTP/1.1 200 OK\n"))
            #expect(try directory.contents("out") == Array("end".utf8))
            #expect(server.requests.allSatisfy { $0.header("X-A") == "1" })
            #expect(server.requests.first?.header("Authorization") == "Basic YWRhOnNlY3JldA==")
            #expect(try await tool("get", server.url, "-o-").text == "end")
        }

        @Test("With `-O` the file has the name in the URL, and never one from the server")
        func remoteName() async throws {
            let server = try LoopbackServer { request in
                request.path == "/a%2Fb.zip"
                    ? .response(
                        headers: [("Content-Disposition", "attachment; filename=evil")], body: "zip")
                    : .response(status: 302, headers: [("Location", "/a%2Fb.zip")])
            }
            let directory = try TemporaryDirectory()
            for path in ["/a%2Fb.zip?x=/y", "/c.zip"] {
                let process = try ToolProcess(["-O", server.url + path], directory: directory.path)
                let result = await process.end()
                #expect(result.code == 0, "\(result.errors)")
            }
            #expect(try directory.names == ["a%2Fb.zip", "c.zip"])
            for path in ["", "/", "/a/", "/a/..", "?b/c"] {
                let result = try await ToolProcess(["-O", server.url + path], directory: directory.path).end()
                #expect(result.code == 64, "\(path)")
                #expect(result.reason == "invalidRequest")
            }
        }

        @Test("`--fail` hides the body of an unexpected status, and `--silent` hides the error")
        func quiet() async throws {
            let server = try LoopbackServer { _ in .response(status: 404, body: "page") }
            let failed = try await tool("get", server.url, "-f")
            #expect(failed.code == 1)
            #expect(failed.output.isEmpty)
            #expect(failed.reason == "status")
            let silent = try await tool("get", server.url, "-s")
            #expect(silent.code == 1)
            #expect(silent.text == "page")
            #expect(silent.errors.isEmpty)
            #expect(try await tool("get", server.url, "-sSf").reason == "status")
        }

        @Test(
            "An invalid certificate is never accepted, and the refusal says what to do",
            arguments: ["-k", "--insecure"])
        func insecure(option: String) async throws {
            let server = try TrustedServer()
            let result = try await tool(server.server.url, option)
            #expect(result.code == 64)
            #expect(result.errors.contains("--anchor"))
            #expect(result.errors.contains("--pin"))
            #expect(server.server.connectionCount == 0)
        }

        @Test(
            "Options that contradict each other are refused",
            arguments: [
                ["-L", "--no-redirects"], ["-O", "-o", "x"], ["--resume", "-o", "-"], ["--show-secrets"],
                ["-I", "-d", "x"], ["-I", "-X", "GET"], ["-X", "CONNECT"],
            ])
        func contradictions(arguments: [String]) async throws {
            #expect(try await ToolProcess(["http://127.0.0.1:1/a"] + arguments).end().code == 64)
        }
    }
}
