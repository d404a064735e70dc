#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The response of a failed request: its head and raw body.
public struct FailedResponse: Sendable {
    /// The response's status and header fields.
    public let head: HTTPResponse
    /// The raw body as far as it was received; at most 64 KiB of a streamed body.
    public let body: Data
    /// The body decoded as the error model of the request or its service. `nil` if neither has one, or if decoding
    /// failed. `RequestFailure.errorModel(as:)` returns it with its type.
    public var model: (any Sendable)?

    /// Creates a response from a head and a body.
    public init(head: HTTPResponse, body: Data) {
        self.head = head
        self.body = body
    }
}

extension FailedResponse: CustomReflectable {
    /// The status, names of header fields, size of the body and type of the model, for debuggers and `dump`.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "status": head.status, "headerFields": RedactedText.names(of: head.headerFields),
                "body": RedactedText.size(of: body), "model": model.map { "\(type(of: $0))" } as Any,
            ])
    }
}

extension RequestFailure {
    /// The response body decoded as the error model of the request or service; `nil` if there is none of this type.
    ///
    /// ```swift
    /// configuration.errorModel = Problem.self
    /// // …
    /// show(failure.errorModel(as: Problem.self)?.title ?? failure.message)
    /// ```
    ///
    /// If the body could not be decoded, ``underlying`` is a failure with the reason `decoding`.
    public func errorModel<Model: Sendable>(as type: Model.Type = Model.self) -> Model? { response?.model as? Model }
}
