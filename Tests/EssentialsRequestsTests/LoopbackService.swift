import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit

/// Runs a test with a loopback server and a service that sends over a real connection, and shuts both down.
///
/// - Parameters:
///   - configuration: The configuration of the service.
///   - path: The path of the environment's base URL.
///   - fields: The header fields of the environment.
///   - handler: Answers the requests at the server.
func withLoopbackService<Value>(
    _ configuration: HTTPDataRequestService.Configuration = .init(), path: String = "", fields: HTTPFields = [:],
    serving handler: @escaping @Sendable (ServerRequest) -> ServerReply,
    _ body: (HTTPDataRequestService, LoopbackServer) async throws -> Value
) async throws -> Value {
    let server = try LoopbackServer(handler: handler)
    let service = HTTPDataRequestService(
        environment: try ConstantEnvironment(server.url + path, headerFields: fields), transport: try CurlTransport(),
        configuration: configuration)
    let result: Result<Value, any Error>
    do { result = .success(try await body(service, server)) } catch { result = .failure(error) }
    await service.shutdown()
    server.stop()
    return try result.get()
}
