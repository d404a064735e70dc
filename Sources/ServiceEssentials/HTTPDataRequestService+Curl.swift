public import EssentialsCurl
public import EssentialsHTTP
public import EssentialsRequests

extension HTTPDataRequestService {
    /// Creates a service with its own transports: one for `trust`, and one for each further policy of an environment.
    ///
    /// ```swift
    /// try locator.registerLazy((any DataRequestService).self) { locator in
    ///     try HTTPDataRequestService(
    ///         environment: locator.resolve((any EnvironmentService).self),
    ///         trust: TrustPolicy(pins: [.publicKey("sha256/…"), .publicKey("sha256/…")]))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - environment: The environment, whose base URL all requests use.
    ///   - trust: The policy for environments without one of their own.
    ///   - configuration: Codecs, interceptors, logging and further settings of the service.
    ///   - engine: Connections, proxies and limits.
    /// - Throws: `invalidPolicy` or `file` if the policy cannot be used, `resources` if the system has no descriptor
    ///   or thread left, `tls` if the system's libraries are too old.
    public convenience init(
        environment: any EnvironmentService, trust: TrustPolicy = .system,
        configuration: Configuration = Configuration(),
        engine: CurlTransport.Configuration = CurlTransport.Configuration()
    ) throws(RequestFailure) {
        let transports = CurlTransports(trust: trust, configuration: engine)
        // The first transport is created now, so that an invalid policy is reported before the first request.
        _ = try transports.transport(for: environment.trust ?? trust)
        self.init(environment: environment, transport: transports, configuration: configuration)
    }

    /// Creates a service for requests to whole URLs on any server, with its own transport; see
    /// `HTTPDataRequestService.forAnyServer(over:configuration:)`.
    ///
    /// ```swift
    /// let open = try HTTPDataRequestService.forAnyServer()
    /// let picture: Data = try await open.get(user.pictureURL)
    /// ```
    ///
    /// - Parameters:
    ///   - trust: The trust policy. It must not have a client identity, because any server could request it.
    ///   - configuration: Codecs, redirects, retries and logging.
    ///   - engine: Connections, proxies and limits.
    /// - Throws: `invalidPolicy` for a policy with an identity, and the failures of the initializer.
    public static func forAnyServer(
        trust: TrustPolicy = .system, configuration: Configuration = Configuration(),
        engine: CurlTransport.Configuration = CurlTransport.Configuration()
    ) throws(RequestFailure) -> HTTPDataRequestService {
        guard trust.identity == nil else { throw .identityForAnyServer() }
        return forAnyServer(
            over: try CurlTransport(trust: trust, configuration: engine), configuration: configuration)
    }
}
