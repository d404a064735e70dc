public import EssentialsHTTP
public import EssentialsRequests
public import EssentialsResources
public import EssentialsTestKit

/// A resource service for tests: the real one, over a scripted transport and a clock that is moved by hand.
///
/// ```swift
/// let resources = try ScriptedResources()
/// try locator.register(resources.service, as: (any ResourceService).self)
/// resources.preset(Cart(items: 2), at: "cart")
/// resources.transport.on(.get, "/users/7").answer(json: User(name: "Ada"))
/// let held = resources.hold("orders")              // loads of it wait
/// let user = try await shop.user("7").loadIfNeeded()
/// held.answer(json: [Order]())
/// try await resources.settled()
/// ```
///
/// Nothing leaves the process and no time passes by itself, so a test sees freshness, retries and polling at the moments
/// that it chooses. Its resources behave as in the program, because the service is the same.
public struct ScriptedResources: Sendable {
    /// The clock of the service and the transport.
    public let clock: ManualClock
    /// Answers the requests.
    public let transport: ScriptedTransport
    /// The environment, which a test can change.
    public let environment: MutableEnvironment
    /// The data-request service below the resources.
    public let requests: HTTPDataRequestService
    /// The resource service.
    public let service: HTTPResourceService

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - baseURL: The base URL of the environment.
    ///   - clock: The clock, with its date.
    ///   - cache: Stores entities of all resources, such as a ``ScriptedEntityCache``. The default is `nil`.
    ///   - configure: Changes the configuration of the resource service. The clock is set already.
    /// - Throws: `invalidRequest` if the URL is malformed; the failures of `HTTPResourceService`.
    public init(
        baseURL: String = "https://api.example.com/", clock: ManualClock = ManualClock(),
        cache: (any EntityCache)? = nil, _ configure: (inout HTTPResourceService.Configuration) -> Void = { _ in }
    ) throws(RequestFailure) {
        self.clock = clock
        transport = ScriptedTransport(clock: clock)
        environment = try MutableEnvironment(baseURL)
        var settings = HTTPDataRequestService.Configuration()
        settings.clock = clock.requestClock
        requests = HTTPDataRequestService(environment: environment, transport: transport, configuration: settings)
        var configuration = HTTPResourceService.Configuration()
        configuration.clock = clock.requestClock
        configure(&configuration)
        service = try HTTPResourceService(
            requests: requests, environment: environment, cache: cache, configuration: configuration)
    }

    /// Sets the content of a resource without a request. It is fresh from now on.
    ///
    /// - Returns: The resource. The content stays as long as a handle exists, and longer while there is memory for it.
    @discardableResult
    public func preset<Content: Sendable>(_ content: Content, at path: String) -> Resource<Content> {
        let resource: Resource<Content> = service.resource(path)
        resource.override(with: content)
        return resource
    }

    /// Lets all requests for a path wait until the test answers them.
    ///
    /// - Parameters:
    ///   - path: The path below the base URL, with the wildcards of `ScriptedTransport`.
    ///   - method: The method of the requests.
    public func hold(_ path: String, method: HTTPRequest.Method = .get) -> HeldRequests {
        let held = HeldRequests()
        let base = environment.baseURL.path
        let slash = base.hasSuffix("/") ? "" : "/"
        let whole = base + slash + (path.hasPrefix("/") ? String(path.dropFirst()) : path)
        transport.on(method, "\(whole)", query: .any).answer { _ in try await held.answer() }
        return held
    }

    /// Waits until no resource has a load or another request that runs.
    ///
    /// - Parameter limit: The time by the system's clock after which it gives up.
    /// - Throws: A mismatch that names what still runs after the limit, such as requests that are held, and waits for the
    ///   clock that the test has not moved.
    public func settled(within limit: Duration = .seconds(10)) async throws(ResourceMismatch) {
        let end = ContinuousClock.now + limit
        while true {
            let busy = service.busyResources
            if busy.isEmpty { return }
            guard ContinuousClock.now < end, !Task.isCancelled else {
                throw ResourceMismatch(
                    ["After \(limit) there are still requests of these resources:"] + busy.map(\.description).sorted())
            }
            await Task.yield()
        }
    }
}

/// What a test of resources expected and did not find.
public struct ResourceMismatch: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line for each difference; never empty.
    public let differences: [String]

    init(_ differences: [String]) { self.differences = differences }

    /// The differences, one on each line.
    public var description: String { differences.joined(separator: "\n") }
}
