/// Looks at every request before it is sent: adds to it, changes it, or refuses it.
///
/// Interceptors run in the order in which the service's configuration names them, once for each request, on the task that
/// sends. What they add goes to the environment's origin only: a redirect elsewhere leaves it behind. Requests to full
/// URLs (``UnsafeRequestService``) are not shown to them.
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
public protocol RequestInterceptor: Sendable {
    /// Changes the draft.
    ///
    /// - Throws: whatever is to end the request: a `RequestFailure` as it is, a `CancellationError` as `cancelled`,
    ///   anything else as `invalidRequest` with that error below it.
    func prepare(_ draft: inout RequestDraft) async throws
}
