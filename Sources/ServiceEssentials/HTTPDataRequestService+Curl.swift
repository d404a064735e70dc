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
    /// - Throws: `invalidPolicy` or `file` for a policy that cannot be used, `connection` when the system gives no
    ///   descriptor or thread, `tls` when the system's libraries are too old.
    public init(
        environment: any EnvironmentService, trust: TrustPolicy = .system,
        configuration: CurlTransport.Configuration = CurlTransport.Configuration()
    ) throws(RequestFailure) {
        let transports = CurlTransports(trust: trust, configuration: configuration)
        // Made now, so that a fault in the policy is known before the first request.
        _ = try transports.transport(for: environment.trust ?? trust)
        self.init(environment: environment, transport: transports)
    }
}
