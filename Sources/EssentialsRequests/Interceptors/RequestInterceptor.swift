/// Looks at every request before it is sent: adds to it, changes it, signs it, or refuses it.
///
/// Interceptors run in the order in which the service's configuration names them, on the task that sends. Header
/// fields that they add or replace go to the environment's origin only: a redirect to another origin leaves them behind. A
/// body whose parameters they changed is sent to no other origin either: a 307 or 308 that would take it there ends the
/// request as `redirectRefused`. Parameters in the query stay behind with the URL. Requests to full URLs
/// (``UnsafeRequestService``) are not shown to them.
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
/// Each step has a default that does nothing.
public protocol RequestInterceptor: Sendable {
    /// Changes the draft, before its body is encoded. Called once for each request.
    ///
    /// - Throws: whatever is to end the request: a `RequestFailure` as it is, a `CancellationError` as `cancelled`,
    ///   anything else as `invalidRequest` with that error below it.
    func prepare(_ draft: inout RequestDraft) async throws

    /// Signs the request, when all interceptors have prepared it and nothing else will be added to it.
    ///
    /// Called for every hop to the environment's origin: again after each redirect within it and when a download is
    /// resumed, each time without what was signed before; never for another origin, nor after a redirect from there.
    /// What is sent again with the answer to a Digest challenge keeps its signature.
    ///
    /// - Throws: as ``prepare(_:)``.
    func sign(_ request: inout EncodedRequest) async throws
}

extension RequestInterceptor {
    /// Changes nothing.
    public func prepare(_ draft: inout RequestDraft) async throws {}
    /// Changes nothing.
    public func sign(_ request: inout EncodedRequest) async throws {}
}
