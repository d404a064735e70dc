public import Dispatch
public import EssentialsHTTP
import Glibc
public import Logging

extension HTTPDataRequestService {
    /// What becomes of requests that run when the environment changes.
    public enum EnvironmentChange: Sendable, Hashable {
        /// They finish where they were sent to.
        case finishRequests
        /// They end as `cancelled`.
        case cancelRequests
    }

    /// How a service works.
    ///
    /// ```swift
    /// var configuration = HTTPDataRequestService.Configuration()
    /// configuration.interceptors = [TenantInterceptor(tenant: "acme")]
    /// configuration.logger = Logger(label: "app.requests")
    /// ```
    public struct Configuration: Sendable {
        /// Where completion handlers run that name no queue. A queue of the service's own; never the main queue.
        public var callbackQueue = DispatchQueue(label: "essentials.service")
        /// Told of requests at the levels debug and trace, without queries, fields or bodies. Silent.
        public var logger = Logger(label: "essentials.requests", factory: { _ in SwiftLogNoOpLogHandler() })
        /// What the logger does not get to see.
        public var redaction = Redaction()
        /// Whether the logger gets each request as a command line of curl too, at the level trace. No.
        public var logsCommands = false
        /// Reads and writes bodies by their media type.
        public var codecs = CodecRegistry.standard
        /// The model type for the bodies of unexpected responses; a request's own error model wins. The default is
        /// `nil`: the bodies are not decoded.
        ///
        /// The failure `status` has the model as `errorModel(as:)`, and always the raw body. If the body cannot be read
        /// as the model, the failure's `underlying` error is a failure `decoding`.
        ///
        /// ```swift
        /// configuration.errorModel = Problem.self
        /// ```
        public var errorModel: (any (Decodable & Sendable).Type)?
        /// How parameters are written into a query.
        public var formEncoding = FormEncoding.standard
        /// How a request's path and the environment's base URL make the URL. Joined.
        public var pathResolution = PathResolution.join
        /// Which `Accept` goes with requests that have none. By what is asked for.
        public var accept = AcceptProfile.typed
        /// Whether a request's priority, if it is not the normal one, is told to the server as `Priority` (RFC 9218, 5).
        /// No. Without it the transport's own queue knows it all the same.
        public var sendsPriority = false
        /// Which redirects are followed. Up to 10, without credentials to other origins.
        public var redirects = RedirectPolicy.standard
        /// See every request before it is sent, in this order. None.
        public var interceptors: [any RequestInterceptor] = []
        /// The `User-Agent` of requests that have none. Program, system and this package.
        public var userAgent = Configuration.standardUserAgent
        /// What becomes of requests that run when the environment changes. They finish.
        public var onEnvironmentChange = EnvironmentChange.finishRequests
        /// Whether a graceful shutdown waits for requests that say nothing about it themselves. The default is `false`.
        public var finishesOnShutdown = false
        /// What is cleared together with an origin's authorization. Nothing.
        public var privateState: [any PrivateStateStore] = []

        /// The defaults named beside each property.
        public init() {}

        private static let standardUserAgent: String = {
            let path = CommandLine.arguments.first ?? ""
            let allowed = (path.split(separator: "/").last ?? "").utf8.filter { byte in
                byte.isASCIIAlphanumeric || "-_.".utf8.contains(byte)
            }
            let program = String(decoding: allowed, as: UTF8.self)
            return "\(program.isEmpty ? "Swift" : program) (\(system)) ServiceEssentials/1.0"
        }()

        private static var system: String {
            var names = utsname()
            guard uname(&names) == 0 else { return "Linux" }
            func text<Array>(_ array: Array) -> String {
                withUnsafeBytes(of: array) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            }
            return "\(text(names.sysname)); \(text(names.machine))"
        }
    }
}
