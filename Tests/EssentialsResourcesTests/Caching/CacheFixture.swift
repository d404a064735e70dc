import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials

/// Services over one clock, one transport and one cache, such as those of a program that is started again and again.
struct CacheFixture {
    let clock = ManualClock()
    let cache: CacheDouble
    let transport: ScriptedTransport

    init(isPersistent: Bool = true) {
        cache = CacheDouble(isPersistent: isPersistent)
        transport = ScriptedTransport(clock: clock)
    }

    static let key = EntityKey(url: "https://h/v1/item", stage: "decoding")

    func entity(_ name: String, age: Duration = .zero, fields: HTTPFields = [:]) -> StoredEntity {
        StoredEntity(
            body: Data(#"{"name":"\#(name)"}"#.utf8), mediaType: "application/json", headerFields: fields,
            date: clock.date.addingTimeInterval(-(age / .seconds(1))))
    }

    func service(
        cached: Bool = true, environment: (any EnvironmentService)? = nil,
        _ configure: (inout HTTPResourceService.Configuration) -> Void = { _ in }
    ) throws -> HTTPResourceService {
        let environment = try environment ?? ConstantEnvironment("https://h/v1/")
        var settings = HTTPDataRequestService.Configuration()
        settings.clock = clock.requestClock
        var configuration = HTTPResourceService.Configuration()
        configuration.clock = clock.requestClock
        configure(&configuration)
        return try HTTPResourceService(
            requests: HTTPDataRequestService(
                environment: environment, transport: transport, configuration: settings),
            environment: environment, cache: cached ? cache : nil, configuration: configuration)
    }
}

/// The events of a resource, as texts.
final class EventList<Content: Sendable>: Sendable {
    private let events = Mutex<[String]>([])

    var all: [String] { events.withLock { $0 } }

    func observe(_ resource: Resource<Content>) -> ResourceObservation {
        resource.observeSynchronously { [self] change in
            let text =
                switch change.event {
                case .newContent(let provenance): "content \(provenance)"
                case .attached: "attached"
                case .requested: "requested"
                case .cancelled: "cancelled"
                case .failed: "failed"
                case .notModified: "not modified"
                default: "other"
                }
            events.withLock { $0.append(text) }
        }
    }
}
