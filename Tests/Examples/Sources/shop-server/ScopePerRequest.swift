import Hummingbird
import Logging
import ServiceEssentials

/// The context of a request, with the services that belong to it.
struct ShopContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The scope of the request. Outside ``ScopePerRequest`` it is empty.
    var services = ServiceLocator(name: "no request")

    init(source: Source) { coreContext = CoreRequestContextStorage(source: source) }
}

/// The reader for whom a request is answered.
struct Reader: Sendable {
    /// The languages that the reader prefers, as the field `Accept-Language` has them.
    let languages: String

    /// The client's choice, or English if the client sent none or an unsuitable one.
    init(languages text: String?) {
        let isSuitable = text.map { text in
            (1...256).contains(text.utf8.count)
                && text.utf8.allSatisfy { byte in byte.isASCIILetterOrDigit || " -,;=.*".utf8.contains(byte) }
        }
        languages = isSuitable == true ? text ?? "en" : "en"
    }
}

extension UInt8 {
    fileprivate var isASCIILetterOrDigit: Bool {
        (48...57).contains(self) || (65...90).contains(self) || (97...122).contains(self)
    }
}

/// Gives every request a scope of its own, which is closed when its response is complete.
struct ScopePerRequest: RouterMiddleware {
    let app: ServiceLocator

    func handle(
        _ request: Request, context: ShopContext, next: (Request, ShopContext) async throws -> Response
    ) async throws -> Response {
        try await app.withScope("request") { scope in
            try scope.register(Reader(languages: request.headers[.acceptLanguage]), as: Reader.self)
            try scope.registerLazy(Films.self) { scope in
                Films(
                    requests: try scope.resolve((any DataRequestService).self),
                    reader: try scope.resolve(Reader.self))
            }
            var context = context
            context.services = scope
            do {
                return try await next(request, context)
            } catch let failure as RequestFailure {
                context.logger.warning("An outgoing request failed.", metadata: ["reason": "\(failure.reason)"])
                throw HTTPError(Self.status(for: failure))
            }
        }
    }

    /// The status that tells this server's clients about a failure behind it, without details.
    private static func status(for failure: RequestFailure) -> HTTPResponse.Status {
        switch failure.reason {
        case .status where failure.response?.head.status == .notFound: .notFound
        case .timeout: .gatewayTimeout
        case .closed, .cancelled: .serviceUnavailable
        default: .badGateway
        }
    }
}
