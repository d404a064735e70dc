import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials

@testable import EssentialsRequests

/// A service whose calls are observed, over a server in memory.
struct ObservedService {
    let timelines = RequestTimelines()
    let origin: CacheOrigin
    let service: HTTPDataRequestService

    init(
        _ handler: @escaping CacheOrigin.Handler = { _ in CacheOrigin.Reply(body: "{}") },
        in environment: (any EnvironmentService)? = nil,
        _ change: (inout HTTPDataRequestService.Configuration) throws -> Void = { _ in }
    ) throws {
        origin = CacheOrigin(handler)
        var configuration = HTTPDataRequestService.Configuration()
        configuration.userAgent = "test/1"
        configuration.clock = origin.clock.requestClock
        configuration.observers = [timelines]
        try change(&configuration)
        service = HTTPDataRequestService(
            environment: try environment ?? ConstantEnvironment("https://h/"), transport: origin.transport(),
            configuration: configuration)
    }

    /// The events of the calls that have ended, in the order of their ends, as text.
    var stories: [[String]] { timelines.all.map { $0.events.map(\.description) } }

    /// The events of the last call that has ended.
    var story: [String] { stories.last ?? [] }

    /// Sends requests whose outcome does not matter.
    func send(_ requests: DataRequest...) async {
        for request in requests { _ = try? await service.send(request) }
    }

    /// Waits until as many calls have ended.
    func ended(_ count: Int) async { await until { timelines.all.count >= count } }
}

extension CacheOrigin.Reply {
    /// A response without a body.
    static func status(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:]) -> CacheOrigin.Reply {
        CacheOrigin.Reply(status: status, fields: fields)
    }
}
