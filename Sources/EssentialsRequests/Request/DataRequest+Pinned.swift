public import EssentialsHTTP

extension DataRequest {
    /// Returns the request for one environment only.
    ///
    /// ```swift
    /// let current = environment.snapshot
    /// let url = try RequestURL("https://api.example.com/v1/users/7?fields=name")    // below its base URL
    /// let user = try await requests.model(of: .get("").pinned(to: current, at: url), as: User.self)
    /// ```
    ///
    /// The request fails as `cancelled` if the environment is no longer the current one when it is sent; see
    /// ``RequestBase/pinned(to:)``. A ``DataRequestService`` that is not an ``HTTPDataRequestService``, such as a test
    /// double, decides by itself what the base means.
    ///
    /// - Parameters:
    ///   - environment: The environment for which the request is made.
    ///   - url: The URL, which replaces ``path``. It has the whole query: nothing of the base's is added, only ``query``
    ///     and ``parameters``. A URL of another origin, or outside the base's path unless the service resolves paths as
    ///     `rfc3986`, fails as `invalidRequest` when it is sent. The default is `nil`, which means that the path stays.
    public func pinned(to environment: EnvironmentSnapshot, at url: RequestURL? = nil) -> DataRequest {
        var request = self
        if let url {
            request.path = url.description
            request.base = .pinned(to: environment, at: url, path: request.path)
            request.hasWholeQuery = true
        } else {
            request.base = .pinned(to: environment)
        }
        return request
    }
}
