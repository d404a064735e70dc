public import EssentialsHTTP
public import EssentialsRequests

/// A request of a resource, as decorators receive it.
///
/// ```swift
/// $0.decorate { call, next in
///     logger.debug("\(call.request.method) \(call.resource)")
///     return try await next(call.request)
/// }
/// ```
public struct DecoratedRequest: Sendable {
    /// The resource.
    public let resource: AnyResource
    /// The request, with the changes of all mutations.
    public let request: DataRequest
}

/// Sends a request of a resource, possibly several times or not at all.
///
/// It receives the request, and a function that sends a request through the decorators that were added earlier, and
/// then through the data-request service. It returns the response that counts. If it throws a `RequestFailure`, the
/// request fails with it. With any other error, the request fails as `invalidRequest`.
public typealias ResourceDecorator =
    @Sendable (
        _ call: DecoratedRequest, _ next: @Sendable (DataRequest) async throws(RequestFailure) -> DataResponse
    ) async throws -> DataResponse

extension ResourceConfiguration {
    /// Changes every request before it is sent, after the changes of its caller.
    ///
    /// ```swift
    /// $0.mutate { request in request.headerFields[.acceptLanguage] = await settings.language }
    /// ```
    ///
    /// Mutations run in the order in which they were added. If a mutation changes the method, the decorators, pipeline
    /// and limits of the new method are used. If it throws, nothing is sent.
    public mutating func mutate(_ mutation: @escaping @Sendable (inout DataRequest) async throws -> Void) {
        mutations.append(mutation)
    }

    /// Wraps the sending of every request. The decorator that was added last is the outermost.
    ///
    /// For example, a login by hand repeats a request once:
    ///
    /// ```swift
    /// $0.decorate { call, next in
    ///     do {
    ///         return try await next(call.request)
    ///     } catch let failure as RequestFailure
    ///         where failure.response?.head.status == .unauthorized
    ///     {
    ///         var again = call.request
    ///         again.headerFields[.authorization] =
    ///             "Bearer \(try await login.newToken())"
    ///         return try await next(again)
    ///     }
    /// }
    /// ```
    ///
    /// For tokens that are refreshed, the token stage of the data-request service does the same for all requests of an
    /// origin.
    public mutating func decorate(_ decorator: @escaping ResourceDecorator) { decorators.append(decorator) }
}
