public import EssentialsHTTP

/// Adds fields and parameters to the requests of a service: the simple form of a preparation.
///
/// ```swift
/// final class Session: RequestPreparationDelegate {
///     func additionalHeaderFields(for method: HTTPRequest.Method, path: String) -> HTTPFields { [.acceptLanguage: "en"] }
/// }
/// configuration.interceptors.append(DelegateInterceptor(session))
/// ```
///
/// Called on the task that sends. The service keeps its delegate alive.
public protocol RequestPreparationDelegate: Sendable {
    /// Fields for a request. One that the request has itself is passed over.
    ///
    /// - Parameters:
    ///   - method: The request's method.
    ///   - path: As the request was given it, below the base URL.
    func additionalHeaderFields(for method: HTTPRequest.Method, path: String) -> HTTPFields

    /// Parameters for a request; they win over the request's own. Not asked for where the body is no set of parameters.
    ///
    /// - Parameters:
    ///   - method: The request's method.
    ///   - path: As the request was given it, below the base URL.
    func additionalParameters(for method: HTTPRequest.Method, path: String) -> FormParameters
}

extension RequestPreparationDelegate {
    /// None.
    public func additionalHeaderFields(for method: HTTPRequest.Method, path: String) -> HTTPFields { [:] }
    /// None.
    public func additionalParameters(for method: HTTPRequest.Method, path: String) -> FormParameters { [:] }
}

/// Asks a delegate: parameters first, then fields.
public struct DelegateInterceptor: RequestInterceptor {
    private let delegate: any RequestPreparationDelegate

    /// Makes an interceptor that keeps the delegate alive.
    public init(_ delegate: any RequestPreparationDelegate) { self.delegate = delegate }

    /// Adds what the delegate says.
    public func prepare(_ draft: inout RequestDraft) async throws {
        let request = draft.request
        if draft.place != .queryBesideBody {
            draft.parameters = draft.parameters.merging(
                delegate.additionalParameters(for: request.method, path: request.path))
        }
        let present = draft.headerFields
        for field in delegate.additionalHeaderFields(for: request.method, path: request.path) {
            // Of several new ones with one name all are added.
            if present.contains(field.name) { try draft.add(field) } else { draft.headerFields.append(field) }
        }
    }
}
