#if Server || Inspector
    public import Configuration
    public import EssentialsCurl
    import EssentialsHTTP
    public import EssentialsRequests
    public import EssentialsTransport

    extension HTTPDataRequestService.Configuration {
        /// Reads the settings of a service; see ``ConfigurationKey``. What the configuration does not name has its default.
        ///
        /// ```swift
        /// let configuration = try HTTPDataRequestService.Configuration(reader)
        /// ```
        ///
        /// - Throws: `invalidRequest` if a value is wrong, and the failures of the cache's directory.
        public init(_ reader: ConfigReader) throws(RequestFailure) {
            self.init()
            let settings = SettingsReader(reader)
            if let name = try settings.text(.userAgent) { userAgent = name }
            if let logs = try settings.flag(.logsCommands) { logsCommands = logs }
            if let limit = try settings.number(.redirectLimit, in: 0...1_000) {
                redirects = limit == 0 ? .refused : .limit(limit)
            }
            try readRetries(settings)
            try readLimits(settings)
            let memory = try settings.bytes(.cacheMemory).map(ResponseCache.Memory.bytes)
            if let directory = try settings.text(.cacheDirectory) {
                do throws(RequestFailure) {
                    cache = try ResponseCache(memory: memory ?? .standard, disk: .directory(directory))
                } catch {
                    throw settings.wrong(.cacheDirectory, error.message, error.remedy ?? "Name a directory.", error)
                }
            } else if let memory {
                cache = ResponseCache(memory: memory)
            }
        }

        private mutating func readRetries(_ settings: SettingsReader) throws(RequestFailure) {
            var policy = RetryPolicy.attempts(try settings.number(.retryAttempts, in: 1...1_000) ?? 1)
            if let wait = try settings.time(.retryLongestWait) { policy.longestWait = wait }
            switch try settings.limit(.retryAttemptTimeout) {
            case .limited(let time)?: policy.attemptTimeout = time
            case .unlimited?, nil: break
            }
            if policy != .never { retry = policy }
        }

        private mutating func readLimits(_ settings: SettingsReader) throws(RequestFailure) {
            let concurrency = try settings.number(.concurrency, in: 1...1_000_000)
            let rate = try settings.number(.ratePerSecond, in: 1...1_000_000)
            let hasBreaker = try settings.flag(.breaker) ?? false
            guard concurrency != nil || rate != nil || hasBreaker else { return }
            limits = OriginLimits(
                concurrency: concurrency, rate: rate.map { RateLimit($0, per: .seconds(1)) },
                breaker: hasBreaker ? .standard : nil)
        }
    }

    extension CurlTransport.Configuration {
        /// Reads the settings of a transport; see ``ConfigurationKey``. What the configuration does not name has its default.
        ///
        /// - Throws: `invalidRequest` if a value is wrong. Values that contradict each other are refused by the transport.
        public init(_ reader: ConfigReader) throws(RequestFailure) {
            self.init()
            let settings = SettingsReader(reader)
            let positive = 1...1_000_000
            if let count = try settings.number(.connectionsPerOrigin, in: positive) { connectionsPerOrigin = count }
            if let count = try settings.number(.requestsInFlight, in: positive) { requestsInFlight = count }
            if let count = try settings.number(.queueLimit, in: 0...1_000_000_000) { queueLimit = count }
            if let count = try settings.number(.shards, in: 1...1_024) { shards = count }
            if let time = try settings.time(.idleLifetime) { idleLifetime = time }
            if case .limited(let time)? = try settings.limit(.connectionLifetime) { connectionLifetime = time }
            unixSocket = try settings.text(.unixSocket)
            networkInterface = try settings.text(.networkInterface)
            proxy =
                try settings.value(.proxy) { text throws(RequestFailure) in
                    switch text {
                    case "none": ProxyPolicy.direct
                    case "environment": ProxyPolicy.environment
                    default: ProxyPolicy.fixed(try Proxy(text))
                    }
                } ?? proxy
        }
    }

    extension TransportOptions {
        /// Reads the times of requests; see ``ConfigurationKey``. What the configuration does not name has its default.
        ///
        /// ```swift
        /// let request = DataRequest(.get, "users", options: try TransportOptions(reader))
        /// ```
        ///
        /// - Throws: `invalidRequest` if a value is wrong.
        public init(_ reader: ConfigReader) throws(RequestFailure) {
            self.init()
            let settings = SettingsReader(reader)
            switch try settings.limit(.connectTimeout) {
            case .limited(let time)?: connectTimeout = time
            case .unlimited?: connectTimeout = .zero
            case nil: break
            }
            idleTimeout = try settings.time(.idleTimeout, or: idleTimeout)
            firstByteTimeout = try settings.time(.firstByteTimeout, or: firstByteTimeout)
            totalTimeout = try settings.time(.totalTimeout, or: totalTimeout)
            queueTimeout = try settings.time(.queueTimeout, or: queueTimeout)
        }
    }

    extension SettingsReader {
        /// A limit of time, or its default.
        fileprivate func time(_ key: ConfigurationKey, or standard: Duration?) throws(RequestFailure) -> Duration? {
            switch try limit(key) {
            case .limited(let time)?: time
            case .unlimited?: nil
            case nil: standard
            }
        }
    }

    extension TrustPolicy {
        /// Reads the policy file that a configuration names; see ``ConfigurationKey``. Without one, the policy is `system`.
        ///
        /// - Throws: The failures of the file, with the key.
        public init(_ reader: ConfigReader) throws(RequestFailure) {
            self =
                try SettingsReader(reader).value(.trustPolicy) { path throws(RequestFailure) in
                    try TrustPolicy(contentsOfFile: path)
                } ?? .system
        }
    }

    extension Credentials {
        /// Reads the token or the user of a configuration as a secret; see ``ConfigurationKey``. `nil` if there is neither.
        ///
        /// - Throws: `invalidRequest` if both are there, or if one cannot be sent. The message does not contain it.
        public init?(_ reader: ConfigReader) throws(RequestFailure) {
            let settings = SettingsReader(reader)
            let bearer = try settings.value(.bearer) { token throws(RequestFailure) in try Credentials.bearer(token) }
            let basic = try settings.value(.user) { text throws(RequestFailure) in
                let name = text.prefix { $0 != ":" }
                guard name.endIndex != text.endIndex else {
                    throw RequestFailure(
                        .invalidRequest, "The password is missing.", remedy: "Write the name, a colon and the password."
                    )
                }
                return try Credentials.basic(user: String(name), password: String(text.dropFirst(name.count + 1)))
            }
            guard bearer == nil || basic == nil else {
                throw settings.wrong(.user, "there is a bearer token too", "Set only one of the two.")
            }
            guard let credentials = bearer ?? basic else { return nil }
            self = credentials
        }
    }

    extension HTTPDataRequestService {
        /// Creates a service with its transport and credentials as a configuration describes them; see ``ConfigurationKey``.
        ///
        /// ```swift
        /// let environment = try ConfigurationEnvironment(reader)
        /// let requests = try HTTPDataRequestService(
        ///     environment: environment, reader) { $0.observers = [MetricsObserver()] }
        /// ```
        ///
        /// - Parameters:
        ///   - environment: The environment.
        ///   - reader: The configuration.
        ///   - change: Changes the settings that were read, such as to add observers.
        /// - Throws: `invalidRequest` if a value is wrong, and the failures of files and of the transport.
        public convenience init(
            environment: any EnvironmentService, _ reader: ConfigReader,
            _ change: (inout Configuration) -> Void = { _ in }
        ) throws(RequestFailure) {
            var configuration = try Configuration(reader)
            change(&configuration)
            let credentials = try Credentials(reader)
            // Requests take the times as their options. A wrong one is refused at the start too.
            _ = try TransportOptions(reader)
            try self.init(
                environment: environment, trust: try TrustPolicy(reader), configuration: configuration,
                engine: try CurlTransport.Configuration(reader))
            if let credentials { setAuthorization(credentials) }
        }
    }
#endif
