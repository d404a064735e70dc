public import EssentialsHTTP

/// Adds header fields and parameters to the requests of a service: a simple alternative to ``RequestInterceptor``.
///
/// ```swift
/// final class Session: RequestPreparationDelegate {
///     func additionalHeaderFields(for method: HTTPRequest.Method, path: String) -> HTTPFields { [.acceptLanguage: "en"] }
/// }
/// let session = Session()                     // the application keeps it
/// configuration.interceptors.append(DelegateInterceptor(session))
/// ```
///
/// The functions are called in a task of the request. The service keeps its delegate alive.
public protocol RequestPreparationDelegate: Sendable {
    /// The header fields to add to a request. Fields that the request already has are ignored. The default adds none.
    ///
    /// - Parameters:
    ///   - method: The request's method.
    ///   - path: The path of the request, below the base URL.
    func additionalHeaderFields(for method: HTTPRequest.Method, path: String) -> HTTPFields

    /// The parameters to add to a request, which win over the request's own. It is not called if the request has a body
    /// of another kind. The default adds none.
    ///
    /// - Parameters:
    ///   - method: The request's method.
    ///   - path: The path of the request, below the base URL.
    func additionalParameters(for method: HTTPRequest.Method, path: String) -> FormParameters
}

extension RequestPreparationDelegate {
    /// No fields.
    public func additionalHeaderFields(for method: HTTPRequest.Method, path: String) -> HTTPFields { [:] }
    /// No parameters.
    public func additionalParameters(for method: HTTPRequest.Method, path: String) -> FormParameters { [:] }
}

/// An interceptor that adds the parameters and then the header fields of a delegate.
public struct DelegateInterceptor: RequestInterceptor {
    private let delegate: any RequestPreparationDelegate

    /// Creates an interceptor that keeps the delegate alive.
    public init(_ delegate: any RequestPreparationDelegate) { self.delegate = delegate }

    /// Adds the delegate's parameters and fields.
    public func prepare(_ draft: inout RequestDraft) async throws {
        let request = draft.request
        if draft.parts.place != .queryBesideBody {
            draft.parameters = draft.parameters.merging(
                delegate.additionalParameters(for: request.method, path: request.path))
        }
        let present = draft.headerFields
        for field in delegate.additionalHeaderFields(for: request.method, path: request.path) {
            // All of several new fields with the same name are added.
            if present.contains(field.name) { try draft.add(field) } else { draft.headerFields.append(field) }
        }
    }
}
