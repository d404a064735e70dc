/// Changes, signs or refuses requests before they are sent.
///
/// Interceptors run in the order of the service's configuration, in a task that is cancelled with the request.
///
/// Header fields that they add or replace are sent only to the environment's origin, not to another one after a
/// redirect. A body whose parameters they changed is not sent to another origin either: a redirect with 307 or 308 that
/// would send it there fails as `redirectRefused`. Parameters in the query are part of the URL, which a redirect
/// replaces. Requests to full URLs (``UnsafeRequestService``) are not intercepted.
///
/// ```swift
/// struct TenantInterceptor: RequestInterceptor {
///     let tenant: String
///     func prepare(_ draft: inout RequestDraft) async throws {
///         try draft.add(.checked(name: "X-Tenant", value: tenant))
///         draft.parameters["lang"] = "en"
///     }
/// }
/// ```
///
/// The defaults of both functions do nothing.
public protocol RequestInterceptor: Sendable {
    /// Changes the draft before its body is encoded. It is called once for each request.
    ///
    /// - Throws: An error that ends the request. A `RequestFailure` is passed on unchanged, a `CancellationError`
    ///   becomes `cancelled`, and any other error becomes `invalidRequest` with that error as the underlying one.
    func prepare(_ draft: inout RequestDraft) async throws

    /// Signs the request after all interceptors have prepared it.
    ///
    /// It is called for every hop to the environment's origin: again after each redirect within the origin and when a
    /// download is resumed, each time without the earlier signature. It is not called for other origins, nor after a
    /// redirect back from one. A request that is sent again with the answer to a Digest challenge keeps its signature.
    ///
    /// - Throws: An error that ends the request, as in ``prepare(_:)``.
    func sign(_ request: inout EncodedRequest) async throws
}

extension RequestInterceptor {
    /// Changes nothing.
    public func prepare(_ draft: inout RequestDraft) async throws {}
    /// Changes nothing.
    public func sign(_ request: inout EncodedRequest) async throws {}
}
