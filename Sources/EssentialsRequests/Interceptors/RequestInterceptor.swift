/// Changes, signs or refuses requests before they are sent, and receives their outcomes.
///
/// Interceptors prepare and sign requests in the order of the service's configuration, and receive outcomes in reverse
/// order. The first one therefore decides last. Each function runs in a task that is cancelled with the request. Such a
/// task takes about 1.5 µs of CPU time.
///
/// Header fields that they add or replace are sent only to the environment's origin, not to another one after a
/// redirect. A body whose parameters they changed is not sent to another origin either: a redirect with 307 or 308 that
/// would send it there fails as `redirectRefused`. Parameters in the query are part of the URL, which a redirect
/// replaces. Requests to any server, `DataRequest(at: url)`, are not intercepted.
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
/// An interceptor that receives outcomes can read the fields of all responses, and replace responses with its own
/// errors, so that an application needs no decorator for paging, quotas or error models:
///
/// ```swift
/// struct InvalidInput: Error, Decodable { var field: String }
///
/// struct InputErrors: RequestInterceptor {
///     func received(_ outcome: HopOutcome) async throws {
///         guard outcome.status == .unprocessableContent, let body = outcome.body else { return }
///         throw try JSONDecoder().decode(InvalidInput.self, from: body)
///     }
/// }
/// // The caller: catch { if let error = error.underlying as? InvalidInput { mark(error.field) } }
/// ```
///
/// All functions have defaults that do nothing.
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

    /// Receives the outcome of a hop: a response, or the failure that ended the hop.
    ///
    /// It is called once for every hop to the environment's origin, before a redirect is followed and before the status
    /// is checked. It is not called for other origins, nor after a redirect back from one. Responses from the response
    /// cache are marked. An attempt that is repeated, for example after a Digest challenge, has no outcome of its own.
    /// It is not called for a cancelled request. The total timeout of the request does not interrupt it.
    ///
    /// If it returns, the outcome stays as it is. If it throws, the error replaces the outcome, the request ends
    /// without another attempt, and the interceptors that are called later receive the failure:
    ///
    /// - A `RequestFailure` keeps its reason and texts. Its host, phase and response are filled in if it has none.
    /// - A `CancellationError` becomes `cancelled`, which no other interceptor receives.
    /// - Any other error becomes the underlying error of a failure. If it replaces a failure, the rest of that failure
    ///   stays. If it replaces a response, the reason is `status`, even for a status that the request expects, and the
    ///   failure contains the response's head and ``HopOutcome/body``. A streamed body is cancelled.
    func received(_ outcome: HopOutcome) async throws

    /// Whether each request of a service with this interceptor is sent by itself, even if the service or the request
    /// allows that equal requests are sent once. The default is `false`.
    ///
    /// Equal requests that are sent once are prepared one by one, but signed and received once. Return `true` if
    /// ``sign(_:)`` gives each request a different meaning for the server.
    var preventsJoining: Bool { get }
}

extension RequestInterceptor {
    /// Changes nothing.
    public func prepare(_ draft: inout RequestDraft) async throws {}
    /// Changes nothing.
    public func sign(_ request: inout EncodedRequest) async throws {}
    /// Keeps the outcome.
    public func received(_ outcome: HopOutcome) async throws {}
    /// `false`.
    public var preventsJoining: Bool { false }
}
