import EssentialsTestKit
import FoundationEssentials
import Testing

extension ToolTests {
    @Suite("Tool: errors")
    struct RefusalTests {
        @Test(
            "An invalid value is reported with a reason, a sentence and the exit code 64",
            arguments: [
                (["get", "no url"], "invalidRequest"), (["get", "ftp://example.com/"], "invalidRequest"),
                (["get", "https://user:word@example.com/"], "invalidRequest"),
                (["get", "https://example.com/", "--header", "X-A: one\r\nX-B: two"], "invalidRequest"),
                (["get", "https://example.com/", "--header", "X A: one"], "invalidRequest"),
                (["get", "https://example.com/", "--pin", "sha256/c2hvcnQ=", "--single-pin"], "invalidPolicy"),
                (["get", "https://example.com/", "--pin", "md5/c2hvcnQ=", "--single-pin"], "invalidPolicy"),
                (["get", "https://example.com/", "--pin", TrustedServer.strangePin], "invalidPolicy"),
                (["pins", "http://example.com/"], "invalidRequest"), (["pins", "two words"], "invalidRequest"),
            ])
        func refusedValues(arguments: [String], reason: String) async throws {
            let result = try await ToolProcess(arguments).end()
            #expect(result.code == 64)
            #expect(result.reason == reason, "\(result.errors)")
            #expect(result.output.isEmpty)
        }

        @Test(
            "Wrong usage has the exit code 64",
            arguments: [
                ["get"], ["get", "http://127.0.0.1/", "--nonsense"], ["fetch", "http://127.0.0.1/"],
                ["get", "http://127.0.0.1/", "--timeout", "5d"], ["get", "http://127.0.0.1/", "--timeout", "-1"],
                ["get", "http://127.0.0.1/", "--timeout", "0"],
                ["get", "http://127.0.0.1/", "--connect-timeout", "soon"],
                ["get", "http://127.0.0.1/", "--expect", "200-"], ["get", "http://127.0.0.1/", "--expect", "299-200"],
                ["get", "http://127.0.0.1/", "--expect", "20"], ["get", "http://127.0.0.1/", "--max-body", "1T"],
                ["get", "http://127.0.0.1/", "--resolve", "host:80"],
                ["get", "http://127.0.0.1/", "--resolve", "h:0:127.0.0.1"],
                ["get", "http://127.0.0.1/", "--resolve", "h:80:name"],
                ["get", "http://127.0.0.1/", "--resolve", "h:80:::1"],
                ["get", "http://127.0.0.1/", "--query", "name"], ["get", "http://127.0.0.1/", "--header", "no colon"],
                ["get", "http://127.0.0.1/", "--http1.1", "--http2"], ["get", "http://127.0.0.1/", "--single-pin"],
                ["get", "http://127.0.0.1/", "--anchor", "a", "--add-anchor", "b"],
                ["get", "http://127.0.0.1/", "--client-cert", "a"], ["get", "http://127.0.0.1/", "--min-tls", "1.1"],
                ["post", "http://127.0.0.1/", "--json", "1", "--data", "2"],
                ["post", "http://127.0.0.1/", "--json", "{1}"],
                ["post", "http://127.0.0.1/", "--json", "[1,]"], ["post", "http://127.0.0.1/", "--json", ""],
                ["post", "http://127.0.0.1/", "--json", "[01]"], ["head", "http://127.0.0.1/", "--data", "x"],
                ["get", "http://127.0.0.1/", "--error-format", "xml"], ["get", "http://127.0.0.1/", "--output", ""],
                ["pins"], ["request", "http://127.0.0.1/"], ["request", "TWO WORDS", "http://127.0.0.1/"],
                ["request", "CONNECT", "http://127.0.0.1/"], ["request", "TRACE", "http://127.0.0.1/"],
                ["post", "http://127.0.0.1/", "--form", "name"], ["get", "http://127.0.0.1/", "--user", "name"],
            ])
        func wrongUsage(arguments: [String]) async throws {
            let result = try await ToolProcess(arguments).end()
            #expect(result.code == 64)
            #expect(result.errors.hasPrefix("Error: "), "\(result.errors)")
        }

        @Test("An error about a file names the file")
        func files() async throws {
            let directory = try TemporaryDirectory()
            let empty = try directory.file("empty.pem", "")
            let missing = directory.path + "/missing.pem"
            for arguments in [
                ["get", "https://localhost/", "--anchor", missing],
                ["post", "https://localhost/", "--data", "@" + missing],
                ["pins", missing], ["get", "https://localhost/", "--client-cert", missing, "--client-key", missing],
            ] {
                let result = try await ToolProcess(arguments).end()
                #expect(result.code == 1)
                #expect(result.reason == "file")
                #expect(result.errors.contains(missing))
            }
            for arguments in [["get", "https://localhost/", "--anchor", empty], ["pins", empty]] {
                let result = try await ToolProcess(arguments).end()
                #expect(result.code == 64)
                #expect(result.reason == "invalidPolicy")
                #expect(result.errors.contains(empty))
            }
        }

        @Test(
            "An unreachable server is reported with its reason",
            arguments: [
                ("http://127.0.0.1:1/", "connection"), ("http://nope.invalid/", "nameResolution"),
            ])
        func unreachable(url: String, reason: String) async throws {
            let result = try await tool("get", url)
            #expect(result.code == 1)
            #expect(result.reason == reason, "\(result.errors)")
        }

        @Test("A response that ends early is printed up to its end")
        func interrupted() async throws {
            let block = [UInt8](repeating: 7, count: 1 << 20)
            // The body exceeds the socket buffers, so a part of it is forwarded before the connection closes.
            let server = try LoopbackServer { _ in
                .raw([.head(headers: [("Content-Length", "\(64 << 20)")]), .repeatSend(block, count: 32), .close])
            }
            let result = try await tool("get", server.url)
            #expect(result.code == 1)
            #expect(result.reason == "interrupted")
            #expect((1...(32 << 20)).contains(result.output.count))
            #expect(result.output.allSatisfy { $0 == 7 })
        }

        private struct Printed: Decodable {
            let reason, phase, message, remedy: String
            let host: String?
            let attempt: Int
        }

        @Test(
            "With the JSON error format an error is one JSON object",
            arguments: [
                (["get", "http://127.0.0.1:1/"], "connection", "127.0.0.1" as String?, Int32(1)),
                (["get", "nonsense"], "invalidRequest", nil, 64),
                (["pins", "nope.invalid"], "nameResolution", "nope.invalid", 1),
            ])
        func json(arguments: [String], reason: String, host: String?, code: Int32) async throws {
            let result = try await ToolProcess(arguments + ["--error-format", "json"]).end()
            let printed = try JSONDecoder().decode(Printed.self, from: Data(result.errors.utf8))
            #expect(result.code == code)
            #expect(result.errorLines.count == 1)
            #expect(printed.reason == reason)
            #expect(printed.host == host)
            #expect(printed.attempt == 1)
            #expect(!printed.phase.isEmpty && !printed.message.isEmpty && !printed.remedy.isEmpty)
            #expect(result.errors.contains(#""host":"#))
        }
    }
}
