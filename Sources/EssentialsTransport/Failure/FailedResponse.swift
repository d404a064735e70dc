#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The answer that came with a failure: head and raw body.
public struct FailedResponse: Sendable {
    /// The response's status and header fields.
    public let head: HTTPResponse
    /// The raw body, as far as it was received; of a streamed body at most 64 KiB.
    public let body: Data
    /// What the body was read as, where the request named a model for that and the body was one.
    public var model: (any Sendable)?

    /// Makes one from a head and a body.
    public init(head: HTTPResponse, body: Data) {
        self.head = head
        self.body = body
    }
}

extension FailedResponse: CustomReflectable {
    /// Status, names of fields, size of the body and type of the model, for debuggers and `dump`.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "status": head.status, "headerFields": RedactedText.names(of: head.headerFields),
                "body": RedactedText.size(of: body), "model": model.map { "\(type(of: $0))" } as Any,
            ])
    }
}
