import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import essentials

extension ToolTests {
    @Suite("Tool: health")
    struct HealthTests {
        private static let ready = """
            {"locator":"shop","isReady":true,"isAlive":true,"status":"degraded","services":[
            {"service":"Requests","health":{"status":"ok","facts":{"waiting":"0","requests":"2"}}},
            {"service":"Store","health":{"status":"degraded","message":"It is being opened.","facts":{}}}]}
            """

        @Test("A report is printed with a line for each service, and the exit code says whether the program is ready")
        func report() async throws {
            let closed = Self.ready.replacing("\"isReady\":true", with: "\"isReady\":false")
            let server = try LoopbackServer { request in
                request.path == "/health"
                    ? .response(body: Self.ready) : .response(status: 503, body: closed)
            }
            let ready = try await tool("health", server.url + "/health")
            #expect(ready.code == 0, "\(ready.errors)")
            #expect(
                ready.text.split(separator: "\n") == [
                    "shop: ready, degraded", "ok        Requests  requests: 2; waiting: 0",
                    "degraded  Store     It is being opened.",
                ])
            let other = try await tool("health", server.url + "/other", "--json")
            #expect(other.code == 1 && other.text == closed + "\n")
        }

        @Test("The address of an inspector has a token, which becomes a cookie")
        func inspector() async throws {
            let server = try LoopbackServer { request in
                if request.target == "/inspector/?token=abc" {
                    return .response(
                        status: 303, headers: [("Location", "/inspector/"), ("Set-Cookie", "a=abc; Path=/")])
                }
                guard request.header("Cookie") == "a=abc" else { return .response(status: 401) }
                return .response(body: request.path == "/inspector/health" ? Self.ready : "page")
            }
            #expect(try await tool("health", server.url + "/inspector/?token=abc").code == 0)
            #expect(try await tool("health", server.url + "/inspector/health").reason == "status")
            #expect(try await tool("health", server.url + "/inspector/?token=no").reason == "status")
        }

        @Test("A response that is no report is refused")
        func refused() async throws {
            let server = try LoopbackServer { _ in .response(body: "{}") }
            #expect(try await tool("health", server.url).reason == "decoding")
            #expect(try await tool("health", "http://127.0.0.1:1/").reason == "connection")
            #expect(try await tool("health", "nothing").code == 64)
        }
    }
}
