/// A request, or a value from which one is built: ``DataRequest`` or ``RequestBuilder``. The calls of
/// ``DataRequestService`` take either.
///
/// ```swift
/// let film = try await requests.response(to: RequestBuilder(.get, "films/1").header("X-Tenant", "acme"), as: Film.self)
/// ```
public protocol BuildableRequest: Sendable {
    /// The request.
    ///
    /// - Throws: `invalidRequest` with the first thing that is wrong.
    func build() throws(RequestFailure) -> DataRequest
}

extension DataRequest: BuildableRequest {
    /// The request itself.
    public func build() -> DataRequest { self }
}
