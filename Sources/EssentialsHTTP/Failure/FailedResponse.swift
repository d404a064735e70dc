#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The answer that came with a failure: head and raw body.
public struct FailedResponse: Sendable {
    /// The response's status and header fields.
    public let head: HTTPResponse
    /// The raw body, as far as it was received; of a streamed body nothing.
    public let body: Data

    /// Makes one from a head and a body.
    public init(head: HTTPResponse, body: Data) {
        self.head = head
        self.body = body
    }
}
