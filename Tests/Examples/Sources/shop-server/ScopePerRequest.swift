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

/// The identifier that joins the log lines of all servers that took part in a request.
struct TraceID: Sendable {
    static let field = "X-Trace-ID"

    let text: String

    /// The client's identifier, or a new one if the client sent none or an unsuitable one.
    init(_ text: String?) {
        if let text, (1...64).contains(text.count),
            text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
        {
            self.text = text
        } else {
            self.text = String(UInt64.random(in: 0 ... .max), radix: 16)
        }
    }
}

/// Gives every request a scope of its own, which is closed when its response is complete.
struct ScopePerRequest: RouterMiddleware {
    let app: ServiceLocator

    func handle(
        _ request: Request, context: ShopContext, next: (Request, ShopContext) async throws -> Response
    ) async throws -> Response {
        try await app.withScope("request") { scope in
            try scope.register(TraceID(request.headers[TraceID.field]), as: TraceID.self)
            try scope.registerLazy(Films.self) { scope in
                Films(
                    requests: try scope.resolve((any DataRequestService).self),
                    trace: try scope.resolve(TraceID.self))
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
