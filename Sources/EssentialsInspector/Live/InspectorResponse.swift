import FoundationEssentials
public import HTTPTypes

/// A response of an inspector's routes, which a server sends.
///
/// ```swift
/// switch response.body {
/// case .bytes(let bytes): try await writer.write(bytes)
/// case .events(let events): for await chunk in events { try await writer.write(chunk) }
/// }
/// ```
public struct InspectorResponse: Sendable {
    /// The body.
    public enum Body: Sendable {
        /// Bytes.
        case bytes([UInt8])
        /// A stream that ends when its task is cancelled, which the server does when the browser is gone.
        case events(InspectorEvents)
    }

    /// The status and the header fields. They have no length of the body, unless the request is a HEAD.
    public internal(set) var head: HTTPResponse
    /// The body.
    public internal(set) var body: Body

    init(_ status: HTTPResponse.Status, _ body: Body, _ fields: [(String, String)] = []) {
        (head, self.body) = (HTTPResponse(status: status), body)
        for (name, value) in fields { set(name, value) }
    }

    static func text(
        _ status: HTTPResponse.Status, _ text: String, _ fields: [(String, String)] = []
    ) -> InspectorResponse {
        InspectorResponse(
            status, .bytes(Array((text + "\n").utf8)), [("Content-Type", "text/plain; charset=utf-8")] + fields)
    }

    static func json(_ status: HTTPResponse.Status, _ value: some Encodable) -> InspectorResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        let data = (try? encoder.encode(value)) ?? Data("null".utf8)
        return InspectorResponse(status, .bytes(Array(data)), [("Content-Type", "application/json")])
    }

    mutating func set(_ name: String, _ value: String) {
        if let name = HTTPField.Name(name) { head.headerFields[name] = value }
    }
}
