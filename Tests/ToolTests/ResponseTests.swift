import EssentialsTestKit
import Testing

extension ToolTests {
    @Suite("Tool: responses")
    struct ResponseTests {
        @Test("A response body is printed byte for byte, including NUL bytes")
        func bytes() async throws {
            let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) } + [0, 0, 10, 13, 0]
            let server = try LoopbackServer { _ in .response(body: bytes) }
            let result = try await tool("get", server.url)
            #expect(result.code == 0)
            #expect(result.output == bytes)
            #expect(result.errors.isEmpty)
        }

        @Test("A response with an unexpected status is printed, and the command fails")
        func unexpectedStatus() async throws {
            let server = try LoopbackServer { _ in .response(status: 404, body: "no such page") }
            let result = try await tool("get", server.url + "/page?token=hidden")
            #expect(result.code == 1)
            #expect(result.text == "no such page")
            #expect(result.reason == "status")
            #expect(result.errors.contains("404"))
            #expect(!result.errors.contains("hidden"))
        }

        @Test(
            "The option `--expect` decides which statuses succeed",
            arguments: [
                ("404", 404, Int32(0)), ("200-299,404", 404, 0), ("200-299,404", 204, 0), ("404", 200, 1),
                ("500-599", 499, 1),
            ])
        func expected(set: String, status: Int, code: Int32) async throws {
            let server = try LoopbackServer { _ in .response(status: status) }
            #expect(try await tool("get", server.url, "--expect", set).code == code)
        }

        @Test("The option `--include` prints the head before the body")
        func included() async throws {
            let server = try LoopbackServer { _ in .response(status: 201, headers: [("X-One", "1")], body: "body") }
            let result = try await tool("get", server.url, "--include")
            #expect(result.text.hasPrefix("HTTP/1.1 201 Created\n"))
            #expect(result.text.contains("\nX-One: 1\n"))
            #expect(result.text.hasSuffix("\n\nbody"))
        }

        @Test("The response to HEAD is printed as its head")
        func head() async throws {
            let server = try LoopbackServer { _ in .response(body: "four") }
            let result = try await tool("head", server.url)
            #expect(result.code == 0)
            #expect(result.text.contains("Content-Length: 4\n"))
            #expect(result.text.hasSuffix("\n\n"))
            #expect(server.requests.first?.method == "HEAD")
        }

        @Test("The option `--timings` prints timings on standard error")
        func timings() async throws {
            let server = try TrustedServer()
            let result = try await tool("get", server.server.url, "--anchor", server.anchor, "--timings")
            let expected = [
                "queue", "name resolution", "connect", "TLS", "request", "sent", "first byte", "total", "bytes",
                "reused",
            ]
            #expect(result.text == "secret")
            #expect(
                Array(result.errorLines.dropFirst()).map { $0.prefix(15).split(separator: "  ")[0] }
                    == expected.map { $0[...] })
            #expect(result.errorLines.contains { $0.hasPrefix("bytes") && $0.hasSuffix(" 6") })
            #expect(Set(result.errorLines.dropFirst().prefix(6).map(\.count)).count == 1)
        }

        @Test("A body over `--max-body` is `tooLarge`, and one of exactly that size is not")
        func limit() async throws {
            let server = try LoopbackServer { _ in .response(body: [UInt8](repeating: 7, count: 2048)) }
            #expect(try await tool("get", server.url, "--max-body", "2k").code == 0)
            let result = try await tool("get", server.url, "--max-body", "2047")
            #expect(result.code == 1)
            #expect(result.reason == "tooLarge")
        }

        @Test("A closed standard output ends the tool quietly with 141, like a process that SIGPIPE ends")
        func closedOutput() async throws {
            let server = try LoopbackServer { _ in .response(body: [UInt8](repeating: 7, count: 1 << 20)) }
            let result = try await tool("get", server.url, output: .closedPipe)
            #expect(result.code == 141)
            #expect(result.errors.isEmpty)
        }
    }
}
