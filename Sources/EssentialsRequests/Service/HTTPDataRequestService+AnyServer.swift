public import EssentialsHTTP

extension HTTPDataRequestService {
    /// Creates a service for requests to whole URLs on any server, which needs no environment.
    ///
    /// Application code uses it for resources to which an API's responses link, such as pictures on other hosts. The path of
    /// each request is a whole URL. The service is registered under a name, beside that of the environment:
    ///
    /// ```swift
    /// try locator.registerLazy((any DataRequestService).self, named: "any server") { _ in
    ///     HTTPDataRequestService.forAnyServer(over: transport)
    /// }
    /// let open = try locator.resolve((any DataRequestService).self, named: "any server")
    /// let picture: Data = try await open.get(user.pictureURL)
    /// ```
    ///
    /// Its requests carry no credentials, cookies or client certificate, and no interceptor sees them. Any other service sends
    /// a request to any server in the same way; see
    /// ``DataRequest/init(_:at:parameters:headerFields:expecting:options:)-(_,RequestURL,_,_,_,_)``, which also says what such
    /// a request must not have.
    ///
    /// - Parameters:
    ///   - transport: Sends the requests. ``shutdown(grace:)`` shuts it down too.
    ///   - configuration: Codecs, redirects, retries and logging. Interceptors and cookies are left out.
    public static func forAnyServer(
        over transport: any Transport, configuration: Configuration = Configuration()
    ) -> HTTPDataRequestService {
        var configuration = configuration
        configuration.interceptors = []
        configuration.settings.cookies = nil
        return HTTPDataRequestService(
            environment: NoEnvironment(), transport: transport, ServiceSettings(configuration, isForAnyServer: true))
    }
}

/// The environment of a service that has none. Its host cannot exist (RFC 6761, 6.4), and no request is sent to it.
private struct NoEnvironment: EnvironmentService {
    let baseURL = RequestURL.nowhere
}
