import EssentialsCurl
public import EssentialsHTTP
import EssentialsRequests
public import EssentialsResources

extension HTTPResourceService {
    /// Creates a service for one base URL, with a data-request service and a transport of its own, which end when the
    /// service is closed.
    ///
    /// ```swift
    /// let service = try HTTPResourceService(baseURL: "https://api.example.com/v1/")
    /// let cart: Resource<Cart> = service.resource("cart")
    /// ```
    ///
    /// A program with credentials, with an environment that changes or with other requests creates these parts itself; see
    /// `HTTPResourceService.init(requests:environment:open:reachability:cache:configuration:)`.
    ///
    /// - Parameters:
    ///   - baseURL: The URL below which the paths of resources lie.
    ///   - trust: The policy for the connections.
    ///   - cache: Stores entities of all resources; `nil` means that none does.
    ///   - configuration: Settings of all resources.
    /// - Throws: `invalidRequest` if the text is no URL, and the failures of the initializers of both services.
    public convenience init(
        baseURL: String, trust: TrustPolicy = .system, cache: (any EntityCache)? = nil,
        configuration: Configuration = Configuration()
    ) throws(RequestFailure) {
        let environment = try ConstantEnvironment(baseURL)
        let requests = try HTTPDataRequestService(environment: environment, trust: trust)
        try self.init(requests: requests, environment: environment, cache: cache, configuration: configuration)
        own(requests)
    }
}
