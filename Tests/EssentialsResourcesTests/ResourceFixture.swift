import EssentialsHTTP
import EssentialsReachability
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit

/// A resource service over a scripted transport and a clock that is moved by hand.
struct ResourceFixture {
    let clock = ManualClock()
    let transport: ScriptedTransport
    let environment: MutableEnvironment
    let requests: HTTPDataRequestService
    let service: HTTPResourceService

    init(
        base: String = "https://h/v1/", open: (any DataRequestService)? = nil,
        reachability: (any ReachabilityService)? = nil, cache: (any EntityCache)? = nil,
        _ change: (inout HTTPResourceService.Configuration) -> Void = { _ in }
    ) throws {
        transport = ScriptedTransport(clock: clock)
        environment = MutableEnvironment(EnvironmentSnapshot(baseURL: try RequestURL(base)))
        var settings = HTTPDataRequestService.Configuration()
        settings.clock = clock.requestClock
        requests = HTTPDataRequestService(environment: environment, transport: transport, configuration: settings)
        var configuration = HTTPResourceService.Configuration()
        configuration.clock = clock.requestClock
        change(&configuration)
        service = try HTTPResourceService(
            requests: requests, environment: environment, open: open, reachability: reachability,
            cache: cache, configuration: configuration)
    }
}

struct Item: Codable, Sendable, Equatable {
    var name: String
}
