public import EssentialsCurl
public import EssentialsHTTP
public import EssentialsRequests

extension HTTPDataRequestService {
    /// Makes a service with transports of its own: one for the policy, and one for each other that an environment names.
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
    ///   - environment: Where requests go.
    ///   - trust: By what servers are judged of environments that have no policy of their own.
    ///   - configuration: Codecs, interceptors, logging and the like.
    ///   - engine: Connections, proxies and limits.
    /// - Throws: `invalidPolicy` or `file` for a policy that cannot be used, `connection` when the system gives no
    ///   descriptor or thread, `tls` when the system's libraries are too old.
    public convenience init(
        environment: any EnvironmentService, trust: TrustPolicy = .system,
        configuration: Configuration = Configuration(),
        engine: CurlTransport.Configuration = CurlTransport.Configuration()
    ) throws(RequestFailure) {
        let transports = CurlTransports(trust: trust, configuration: engine)
        // Made now, so that a fault in the policy is known before the first request.
        _ = try transports.transport(for: environment.trust ?? trust)
        self.init(environment: environment, transport: transports, configuration: configuration)
    }
}

extension UnsafeRequestService {
    /// Makes a service with a transport of its own.
    ///
    /// - Parameters:
    ///   - trust: By what servers are judged. It may not have a client identity, which any server could ask for.
    ///   - configuration: Codecs, redirects, logging.
    ///   - engine: Connections, proxies and limits.
    /// - Throws: `invalidPolicy` for a policy with an identity, and as the data-request service's initialiser.
    public convenience init(
        trust: TrustPolicy = .system,
        configuration: HTTPDataRequestService.Configuration = HTTPDataRequestService.Configuration(),
        engine: CurlTransport.Configuration = CurlTransport.Configuration()
    ) throws(RequestFailure) {
        guard trust.identity == nil else {
            throw RequestFailure(
                .invalidPolicy, "A service for any server was given a client identity.",
                remedy: "Take the identity out of the policy, or use the data-request service.")
        }
        self.init(transport: try CurlTransport(trust: trust, configuration: engine), configuration: configuration)
    }
}
