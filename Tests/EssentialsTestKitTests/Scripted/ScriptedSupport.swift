import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials

/// The model of these tests.
struct User: Codable, Sendable, Hashable {
    var id: Int
    var name: String
}

/// A request to one host.
func scriptedRequest(
    _ method: HTTPRequest.Method = .get, _ target: String = "/", headerFields: HTTPFields = [:],
    body: RequestBody = .none, host: String = "api.example.com"
) throws -> TransportRequest {
    TransportRequest(method, try RequestURL("https://\(host)\(target)"), headerFields: headerFields, body: body)
}

/// A request with streamed delivery.
func streamedRequest(_ target: String = "/") throws -> TransportRequest {
    var request = try scriptedRequest(.get, target)
    request.options.delivery = .streamed
    return request
}

/// The failure of an operation, or `nil` if it did not fail.
func requestFailure(_ operation: () async throws -> Void) async -> RequestFailure? {
    do {
        try await operation()
        return nil
    } catch {
        return error as? RequestFailure
    }
}

/// The lines of a mismatch; empty if there is none.
func mismatch(_ operation: () throws(RequestMismatch) -> Void) -> [String] {
    do {
        try operation()
        return []
    } catch {
        return error.differences
    }
}

/// Sends a request and returns its record.
func recorded(_ request: TransportRequest) async throws -> RecordedRequest {
    let transport = ScriptedTransport()
    transport.on { _ in true }.answer()
    _ = try await transport.send(request)
    return try await transport.request(number: 1)
}

extension TransportResponse {
    /// The collected body as text.
    var text: String? { body.data.map { String(decoding: $0, as: UTF8.self) } }
}
