public import EssentialsTransport
public import Foundation

extension RequestURL {
    /// Reads Foundation's URL. A relative one is resolved against its base.
    ///
    /// ```swift
    /// let request = TransportRequest(.get, try RequestURL(components.url))
    /// ```
    ///
    /// - Throws: `invalidRequest`, as for text: another scheme than `http` and `https`, credentials, a bad host or port.
    public init(_ url: URL) throws(RequestFailure) { try self.init(url.absoluteString) }
}

extension URL {
    /// The URL of a request, query included; nil for one that Foundation cannot read.
    public init?(_ url: RequestURL) { self.init(string: url.description) }
}
