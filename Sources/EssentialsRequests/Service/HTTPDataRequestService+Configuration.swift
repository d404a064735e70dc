public import Dispatch
public import EssentialsHTTP
public import EssentialsReachability
import Glibc
public import Logging

extension HTTPDataRequestService {
    /// What happens to running requests when the environment changes.
    public enum EnvironmentChange: Sendable, Hashable {
        /// They finish at the server to which they were sent.
        case finishRequests
        /// They fail as `cancelled`.
        case cancelRequests
    }

    /// The configuration of a service.
    ///
    /// ```swift
    /// var configuration = HTTPDataRequestService.Configuration()
    /// configuration.interceptors = [TenantInterceptor(tenant: "acme")]
    /// configuration.logger = Logger(label: "app.requests")
    /// ```
    @dynamicMemberLookup
    public struct Configuration: Sendable {
        /// The queue for completion handlers of calls without a `completionQueue`. The default is a serial queue of the
        /// configuration, which is not the main queue.
        public var callbackQueue = DispatchQueue(label: "essentials.service")
        /// Logs requests at the levels debug and trace, without queries, field values or bodies; see
        /// <doc:LoggingRequests>. The default logs nothing.
        public var logger = Logger(label: "essentials.requests", factory: { _ in SwiftLogNoOpLogHandler() })
        /// The parts of requests that are not logged. The default hides queries and secret fields.
        public var redaction = Redaction()
        /// Whether each request is also logged as a command line of curl, at the level trace. The default is `false`.
        public var logsCommands = false
        /// The codecs that encode and decode bodies by media type. The default is the standard registry.
        public var codecs = CodecRegistry.standard
        /// The model type for the bodies of unexpected responses; a request's own error model wins. The default is
        /// `nil`, which means that the bodies are not decoded.
        ///
        /// The failure `status` provides the model through `errorModel(as:)`, and always has the raw body. If the body
        /// cannot be decoded, the failure's `underlying` error is the failure `decoding`.
        ///
        /// ```swift
        /// configuration.errorModel = Problem.self
        /// ```
        public var errorModel: (any (Decodable & Sendable).Type)?
        /// How parameters are encoded in a query. The default is the standard encoding.
        public var formEncoding = FormEncoding.standard
        /// How the URL is made from a request's path and the environment's base URL. The default is `join`.
        public var pathResolution = PathResolution.join
        /// The `Accept` field of requests without one. The default is `typed`, which depends on the result type.
        public var accept = AcceptProfile.typed
        /// Whether a priority other than `normal` is sent to the server in the field `Priority` (RFC 9218, 5). The
        /// default is `false`. The transport's queue uses the priority in either case.
        public var sendsPriority = false
        /// How requests are sent: retries, redirects, limits, cookies, joining and the end of the service; see
        /// <doc:WhenRequestsFail> and <doc:LimitingRequests>. Requests, definitions and environments can have other
        /// settings. The default is empty, which means the service's default of each setting.
        ///
        /// They can be set as if they were properties of the configuration: `configuration.retry = .attempts(3)`.
        public var settings = RequestSettings()
        /// How a failed request is sent again. The default is `never`.
        public var retry: RetryPolicy {
            get { settings.retry ?? .never }
            set { settings.retry = newValue }
        }
        /// Which redirects are followed. The default is up to 10, without credentials for other origins.
        public var redirects: RedirectPolicy {
            get { settings.redirects ?? .standard }
            set { settings.redirects = newValue }
        }
        /// The limits of each origin: concurrency, rate and circuit breaker. The default is no limit.
        public var limits: OriginLimits {
            get { settings.limits ?? .unlimited }
            set { settings.limits = newValue }
        }
        /// Limits the retries to each origin. The default allows about one for every ten requests that need none.
        public var retryBudget = RetryBudget()
        /// The reachability of the environment's server, for retry policies with `whenReachable`. The default is `nil`,
        /// which means that these policies only wait.
        public var reachability: (any ReachabilityService)?
        /// Stores the cookies of responses and adds them to requests, such as a `CookieJar`, which several services may
        /// share; see <doc:KeepingCookies>. The default is `nil`, which means no cookies.
        ///
        /// `clearAuthorization()` removes the cookies of the environment's host, and a shutdown saves the others.
        public var cookies: (any CookieStorage)? {
            get { settings.cookies?.storage }
            set { settings.cookies = newValue.map { .storage($0) } }
        }
        /// The observers of every request, in the order in which they are told; see ``RequestObserver``. They are not told of
        /// requests that token providers and interceptors send with other services. The default is none.
        public var observers: [any RequestObserver] = []
        /// Stores responses and serves them again, as HTTP allows it; see ``ResponseCache``. Several services may share it.
        /// The default is `nil`, which means that every request is sent.
        public var cache: ResponseCache?
        /// The interceptors of every request, in the order in which they prepare and sign it. They receive its outcomes
        /// in reverse order. The default is an empty array.
        public var interceptors: [any RequestInterceptor] = []
        /// The `User-Agent` field of requests without one. The default names the program, the system and this package.
        public var userAgent = Configuration.standardUserAgent
        /// What happens to running requests when the environment changes. The default is that they finish.
        public var onEnvironmentChange = EnvironmentChange.finishRequests
        /// The time, the date and the random numbers of all stages. The default is those of the system.
        public var clock = RequestClock.system
        /// The stores that are cleared together with an origin's credentials. The service holds them strongly; others can
        /// join it later, see ``PrivateStateRegistry``. The default is none.
        public var privateState: [any PrivateStateStore] = []

        /// Creates a configuration with the default of each property.
        public init() {}

        /// A setting of the service's requests.
        public subscript<Value>(dynamicMember setting: WritableKeyPath<RequestSettings, Value>) -> Value {
            get { settings[keyPath: setting] }
            set { settings[keyPath: setting] = newValue }
        }

        private static let standardUserAgent: String = {
            let path = CommandLine.arguments.first ?? ""
            let allowed = (path.split(separator: "/").last ?? "").utf8.filter { byte in
                byte.isASCIIAlphanumeric || "-_.".utf8.contains(byte)
            }
            let program = String(decoding: allowed, as: UTF8.self)
            return "\(program.isEmpty ? "Swift" : program) (\(system)) ServiceEssentials/\(PackageVersion.text)"
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
