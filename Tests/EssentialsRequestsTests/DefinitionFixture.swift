import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials

/// Runs a test with a loopback server and a service that sends over a real connection. The environment's base URL is
/// the server's `/v1`.
func withServer(
    _ handler: @escaping @Sendable (ServerRequest) -> ServerReply = { _ in .response(body: "{}") },
    fields: HTTPFields = [:], configuration: HTTPDataRequestService.Configuration = .init(),
    _ body: (HTTPDataRequestService, LoopbackServer) async throws -> Void
) async throws {
    try await withLoopbackService(configuration, path: "/v1", fields: fields, serving: handler, body)
}

extension ServerReply {
    /// A response with JSON text.
    static func json(_ text: String, status: Int = 200, headers: [(String, String)] = []) -> ServerReply {
        .response(status: status, headers: [("Content-Type", "application/json")] + headers, body: text)
    }
}

/// A definition with a base URL and one path.
func definition(
    _ path: RequestPath = RequestPath(), base: RequestBase = "https://h.example/v1",
    @RequestPropertiesBuilder _ properties: () -> RequestProperties = { RequestProperties() }
) -> APIRequest<Note> {
    APIRequest(.get, path, in: APIContext(base: base), properties())
}

extension APIRequest {
    /// The path and query that are sent; `nil` if the URL cannot be built.
    var target: String? { try? url().target }
}

/// Header fields from a dictionary.
func headerFields(_ fields: [String: String]) throws -> HTTPFields {
    try RequestHeaders { fields }.fields
}
