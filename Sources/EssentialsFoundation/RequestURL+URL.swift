public import EssentialsTransport
public import Foundation

extension RequestURL {
    /// Converts Foundation's URL. A relative URL is resolved against its base.
    ///
    /// ```swift
    /// let request = TransportRequest(.get, try RequestURL(components.url))
    /// ```
    ///
    /// - Throws: `invalidRequest` as for text: for a scheme other than `http` and `https`, credentials,
    ///   or a bad host or port.
    public init(_ url: URL) throws(RequestFailure) { try self.init(url.absoluteString) }
}

extension URL {
    /// Converts the URL of a request, including its query. Returns `nil` if Foundation cannot parse it.
    public init?(_ url: RequestURL) { self.init(string: url.description) }
}
