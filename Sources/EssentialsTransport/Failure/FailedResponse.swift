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

extension RequestFailure {
    /// The delay before the next attempt that the server requests with `Retry-After`; see
    /// ``FailedResponse/retryAfter(now:)``. `nil` without a response.
    ///
    /// - Parameter now: The time to which a date is compared if the response has no `Date` field.
    public func retryAfter(now: Date = Date()) -> Duration? { response?.retryAfter(now: now) }
}

extension FailedResponse {
    /// The delay before the next attempt that the server requests with `Retry-After` (RFC 9110, section 10.2.3). `nil`
    /// if the field is missing or invalid. A date in the past gives zero.
    ///
    /// A date counts from the `Date` field of the same response, so that a wrong clock on this machine does not matter.
    ///
    /// - Parameter now: The time to which a date is compared if the response has no `Date` field.
    public func retryAfter(now: Date = Date()) -> Duration? {
        RetryAfter.delay(in: head.headerFields, now: now)
    }
}
