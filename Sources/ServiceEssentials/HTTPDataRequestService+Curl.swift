public import EssentialsCurl
public import EssentialsHTTP
public import EssentialsRequests

extension HTTPDataRequestService {
    /// Makes a service with a transport of its own.
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
        self.init(environment: environment, transport: try CurlTransport(trust: trust, configuration: configuration))
    }
}
