import EssentialsTestKit
import Testing

extension ToolTests {
    @Suite("Tool: terminals and pipes")
    struct TerminalTests {
        private static let json = #"{"n":1.0,"n":1e2,"s":"a"}"#
        private static let formatted = "{\n    \"n\": 1.0,\n    \"n\": 1e2,\n    \"s\": \"a\"\n}\n"
        private static let plain = ["NO_COLOR": "1", "TERM": "xterm"]

        private func server(
            _ body: String, type: String = "application/json", status: Int = 200
        ) throws -> LoopbackServer {
            try LoopbackServer { _ in .response(status: status, headers: [("Content-Type", type)], body: body) }
        }

        @Test("On a terminal JSON is indented and colored")
        func terminal() async throws {
            let server = try server(Self.json)
            let colored = ["TERM": "xterm", "NO_COLOR": ""]
            let result = try await tool("get", server.url, output: .terminal, environment: colored)
            #expect(result.code == 0)
            #expect(result.text.contains("\u{1B}[34m\"n\"\u{1B}[0m: \u{1B}[36m1.0\u{1B}[0m,\n"), "\(result.text)")
            for environment in [Self.plain, ["TERM": "dumb"], ["CLICOLOR": "0", "TERM": "xterm"]] {
                let result = try await tool("get", server.url, output: .terminal, environment: environment)
                #expect(result.text == Self.formatted)
            }
            let lines = try await tool("get", server.url, "--pretty", "none", output: .terminal, environment: colored)
            #expect(lines.text == Self.json + "\n")
            let raw = try await tool("get", server.url, "--output", "-", output: .terminal, environment: Self.plain)
            #expect(raw.text == Self.json)
        }

        @Test("The color of a string that is cut off does not last")
        func cutColor() async throws {
            let server = try LoopbackServer { _ in
                .raw([.head(headers: [("Content-Type", "application/json"), ("Content-Length", "9")]), .text("\"ab")])
            }
            let colored = ["TERM": "xterm", "NO_COLOR": ""]
            let result = try await tool("get", server.url, output: .terminal, environment: colored)
            #expect(result.code == 1)
            #expect(result.text.hasPrefix("\u{1B}[32m\"ab\u{1B}[0m\nerror: interrupted: "), "\(result.text)")
        }

        @Test("What is printed on a closed stream reaches no file or connection")
        func closedStreams() async throws {
            let server = try server(Self.json)
            let directory = try TemporaryDirectory()
            let url = server.url
            #expect(try await Shell.run("essentials get \(url) -v -o body 2>&-", in: directory).code == 0)
            #expect(String(decoding: try directory.contents("body"), as: UTF8.self) == Self.json)
            let output = try await Shell.run("essentials get \(url) >&-", in: directory)
            #expect(output.code == 1)
            #expect(output.lines.first?.contains("Bad file descriptor") == true, "\(output.lines)")
            let input = try await Shell.run("essentials post \(url) -d @- <&-", in: directory)
            #expect(input.code == 1)
            #expect(input.lines.first?.contains("Bad file descriptor") == true, "\(input.lines)")
        }

        @Test("Through a pipe the bytes are those of the server, unless an option asks for style")
        func pipe() async throws {
            let server = try server(Self.json)
            #expect(try await tool("get", server.url).text == Self.json)
            #expect(try await tool("get", server.url, "--pretty", "format").text == Self.formatted)
            #expect(try await tool("get", server.url, "--pretty", "all").text == Self.formatted)
            let colored = try await tool("get", server.url, "--color", "always")
            #expect(colored.text.hasPrefix("{\u{1B}[34m\"n\"\u{1B}[0m:\u{1B}[36m1.0\u{1B}[0m,"), "\(colored.text)")
            let both = try await tool("get", server.url, "--pretty", "all", "--color", "always")
            #expect(both.text.hasPrefix("{\n    \u{1B}[34m\"n\"\u{1B}[0m: "))
            #expect(try await tool("get", server.url, "--pretty", "format", "--color", "always").text == Self.formatted)
        }

        @Test("Controls from a server reach a terminal escaped, and a pipe unchanged")
        func escapes() async throws {
            let attack = "a\u{1B}]0;owned\u{7}\r\u{9B}2Jb"
            let server = try LoopbackServer { _ in
                .raw([
                    .head(headers: [("X-A", "\u{9B}31m\u{202E}x"), ("Content-Length", "\(attack.utf8.count)")]),
                    .text(attack),
                ])
            }
            let shown = try await tool("get", server.url, "-iv", output: .terminal, environment: Self.plain)
            #expect(shown.code == 0, "\(shown.text)")
            let dangerous: Set<Unicode.Scalar> = ["\u{1B}", "\u{7}", "\r", "\u{9B}", "\u{202E}"]
            #expect(!shown.text.unicodeScalars.contains { dangerous.contains($0) })
            #expect(shown.text.contains(#"X-A: \u{9B}31m\u{202E}x"#), "\(shown.text)")
            #expect(shown.text.contains(#"a\u{1B}]0;owned\u{7}\u{D}\u{9B}2Jb"#))
            let piped = try await tool("get", server.url, "-i")
            #expect(piped.text.hasSuffix("\n\n" + attack))
            #expect(piped.text.contains("X-A: \u{9B}31m\u{202E}x\n"))
        }

        @Test("A server's text in an error is escaped in both formats")
        func errorTexts() async throws {
            let server = try LoopbackServer { _ in
                .raw([.text("HTTP/1.1 404 \u{9B}2J\u{202E}x\r\nContent-Length: 0\r\n\r\n")])
            }
            for format in ["text", "json"] {
                let result = try await tool("get", server.url, "--error-format", format)
                #expect(result.code == 1)
                #expect(!result.errors.unicodeScalars.contains { $0 == "\u{9B}" || $0 == "\u{202E}" })
            }
        }

        @Test("A binary body is printed on a terminal only with --output -")
        func binary() async throws {
            let bytes: [UInt8] = [0x7f, 0x45, 0, 1, 0xff]
            let server = try LoopbackServer { _ in .response(body: bytes) }
            let refused = try await tool("get", server.url, output: .terminal)
            #expect(refused.code == 1)
            #expect(refused.text.hasPrefix("error: file: The body is binary"), "\(refused.text)")
            #expect(refused.text.contains("--output -"))
            #expect(try await tool("get", server.url, "-o", "-", output: .terminal).output == bytes)
            #expect(try await tool("get", server.url).output == bytes)
        }

        @Test("An error begins on a line of its own")
        func errorLine() async throws {
            let missing = try server("no such page", type: "text/plain", status: 404)
            let result = try await tool("get", missing.url, output: .terminal)
            #expect(result.text.hasPrefix("no such page\nerror: status: "), "\(result.text)")
            let cut = try LoopbackServer { _ in
                .raw([.head(headers: [("Content-Length", "100")]), .text("half"), .close])
            }
            let half = try await tool("get", cut.url, output: .terminal)
            #expect(half.text.hasPrefix("half\nerror: interrupted: "), "\(half.text)")
        }

        @Test("A progress line with rate and time left is shown on a terminal for a file only")
        func progress() async throws {
            let block = [UInt8](repeating: 65, count: 1 << 20)
            let server = try LoopbackServer { _ in
                .raw([.head(headers: [("Content-Length", "\(4 << 20)")]), .repeatSend(block, count: 4), .close])
            }
            let directory = try TemporaryDirectory()
            let file = directory.path + "/out"
            let shown = try await tool(
                "get", server.url, "-o", file, output: .terminal, environment: ["TERM": "xterm"])
            #expect(shown.code == 0)
            #expect(shown.text.contains("4.2 MB of 4.2 MB"), "\(shown.text)")
            #expect(shown.text.contains("/s"))
            for (options, term) in [(["-s"], "xterm"), ([], "dumb")] {
                let process = try ToolProcess(
                    ["get", server.url, "-o", file] + options, output: .terminal, environment: ["TERM": term])
                #expect(await process.end().text == "")
            }
            #expect(try await tool("get", server.url, "-o", file).errors.isEmpty)
        }
    }
}
