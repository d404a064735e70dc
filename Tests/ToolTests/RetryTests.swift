import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import essentials

extension ToolTests {
    @Suite("Tool: retries and cookies")
    struct RetryTests {
        private let directory: TemporaryDirectory

        init() throws { directory = try TemporaryDirectory() }

        @Test("A failed GET is sent again as often as allowed, and each retry is a line on standard error")
        func retries() async throws {
            let server = try LoopbackServer { request in
                request.number < 2 ? .response(status: 503, headers: [("Retry-After", "0")]) : .response(body: "done")
            }
            let result = try await tool("get", server.url, "--retry", "2")
            #expect(result.code == 0 && result.text == "done")
            #expect(result.errors.contains("retry: attempt 1 failed (status 503)"))
            #expect(result.errors.contains("retry: attempt 2 failed (status 503)"))
            let given = try LoopbackServer { _ in .response(status: 503, headers: [("Retry-After", "0")]) }
            let failed = try await tool("get", given.url, "--retry", "1")
            #expect(failed.code == 1 && failed.errors.contains("error: status:"))
            #expect(given.requestCount == 2)
        }

        @Test("A POST is sent again with an idempotency key only, and 500 with --retry-all only")
        func limits() async throws {
            let server = try LoopbackServer { request in
                request.path == "/ok" ? .response() : .response(status: request.path == "/500" ? 500 : 503)
            }
            _ = try await tool("post", server.url + "/a", "--data", "x", "--retry", "1")
            #expect(server.requestCount == 1)
            _ = try await tool("post", server.url + "/a", "--data", "x", "--retry", "1", "--idempotency-key", "auto")
            let keys = server.requests.dropFirst().map { $0.header("Idempotency-Key") ?? "" }
            #expect(keys.count == 2 && Set(keys).count == 1 && keys[0].utf8.count == 36)
            _ = try await tool("get", server.url + "/500", "--retry", "1")
            #expect(server.requestCount == 4)
            _ = try await tool("get", server.url + "/500", "--retry", "1", "--retry-all")
            #expect(server.requestCount == 6)
        }

        @Test(
            "Wrong options for retries are refused",
            arguments: [
                ["--retry", "-1"], ["--retry", "2000"], ["--retry", "1", "--retry-for", "5s"], ["--retry-all"],
                ["--retry-for", "soon"], ["--idempotency-key", ""], ["--cookie", "name"],
            ])
        func refusals(options: [String]) async throws {
            #expect(try await ToolProcess(["get", "http://127.0.0.1:1/"] + options).end().code == 64)
        }

        @Test("Cookies are kept in a file between two calls, and given ones are sent with them")
        func cookies() async throws {
            let server = try LoopbackServer { request in
                .response(headers: [("Set-Cookie", "a=1; Path=/")], body: request.header("Cookie") ?? "none")
            }
            let jar = directory.path + "/jar"
            #expect(try await tool("get", server.url, "--cookie-jar", jar).text == "none")
            #expect(try await tool("get", server.url, "--cookie-jar", jar, "--cookie", "b=2").text == "b=2; a=1")
            #expect(try String(contentsOf: URL(filePath: jar), encoding: .utf8).contains("\ta\t1"))
            #expect(try await tool("get", server.url, "-b", "b=2", "-b", "c=3").text == "b=2; c=3")
        }
    }
}
