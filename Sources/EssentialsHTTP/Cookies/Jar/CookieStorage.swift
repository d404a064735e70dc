/// The cookies of a client, as a stage of the chain uses them. ``CookieJar`` is the implementation; a test can replace
/// it.
///
/// ```swift
/// try locator.register(CookieJar(), as: (any CookieStorage).self)
///
/// // A stage does this for each attempt and each redirect hop:
/// storage.field(for: request.url)?.add(to: &request.headerFields)
/// let response = try await next.send(request)
/// storage.store(response.headerFields, from: request.url)
/// ```
///
/// All methods may be called on any thread.
public protocol CookieStorage: Sendable {
    /// Whether there is a cookie for a URL. An empty storage decides this without an allocation.
    func hasCookies(for url: RequestURL) -> Bool

    /// The `Cookie` field for a URL; `nil` if there is no cookie for it.
    ///
    /// - Parameters:
    ///   - url: The URL that the request goes to.
    ///   - countsAsUse: Whether the cookies are sent. A full jar evicts the least recently used cookies first.
    func field(for url: RequestURL, countsAsUse: Bool) -> CookieField?

    /// Stores the cookies of a response.
    ///
    /// - Parameters:
    ///   - headerFields: The fields of the response. All but `Set-Cookie` are ignored.
    ///   - url: The URL of the request.
    /// - Returns: The reasons why lines were ignored, for logs.
    @discardableResult
    func store(_ headerFields: HTTPFields, from url: RequestURL) -> [CookieRefusal]

    /// Removes all cookies that a host receives, for any path and scheme, such as after a logout.
    func removeCookies(visibleTo host: HostName)

    /// Saves all changes. A storage without a file does nothing.
    ///
    /// - Throws: `file` if the changes cannot be saved.
    func flush() async throws(RequestFailure)
}

extension CookieStorage {
    /// The `Cookie` field for a URL to which a request is sent; `nil` if there is no cookie for it.
    public func field(for url: RequestURL) -> CookieField? { field(for: url, countsAsUse: true) }
}
