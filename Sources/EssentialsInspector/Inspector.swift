public import EssentialsLocator
import EssentialsObservability
public import EssentialsPersistence
public import EssentialsRequests
public import EssentialsResources
import EssentialsTools

/// Keeps what a program has done lately, for a page that shows it: requests, loads of resources, calls of stores, and the services
/// of a locator.
///
/// ```swift
/// let inspector = Inspector(program: "shop 1.4")
/// configuration.observers.append(inspector)
/// // later
/// let page = await inspector.report(of: locator).page
/// try Data(page.utf8).write(to: URL(filePath: "/tmp/shop.html"))
/// ```
///
/// It is an observer of any number of services, resource services and stores. It keeps the last 500 exchanges and 2,000 events of
/// resources and stores, in about 8 MiB. Secrets are hidden as in the logs of each service; see `HARRecorder`.
///
/// It can be used from any thread.
public final class Inspector: RequestObserver, LoadObserver, StoreObserver {
    /// The number of exchanges that are kept.
    public static let maximumExchanges = 500
    /// The number of events of resources and stores that are kept.
    public static let maximumEvents = 2_000
    private static let maximumBytes = 8 << 20
    /// The number of stores of which something is shown.
    private static let maximumStores = 100

    /// An event that is turned into text only if somebody looks at it.
    enum Event: Sendable {
        case load(LoadEvent)
        case store(StoreEvent)

        var instant: ContinuousClock.Instant {
            switch self {
            case .load(let event): event.instant
            case .store(let event): event.instant
            }
        }
    }

    private struct State {
        var events = Fifo<Event>()
        var stores: [String: InspectorReport.Store] = [:]
    }

    let program: String
    let recorder: HARRecorder
    private let state = Mutex(State())

    /// Creates an inspector.
    ///
    /// - Parameters:
    ///   - program: The name and the version of the program, for the title of the page.
    ///   - bodyLimit: The number of bytes of each body that are kept, at most 64 KiB. The default is 0, which means none.
    public init(program: String = "", bodyLimit: Int = 0) {
        self.program = program
        recorder = HARRecorder(limit: Self.maximumExchanges, bodyLimit: bodyLimit, memory: Self.maximumBytes)
    }

    /// The number of bytes of each body that are kept.
    public var bodyLimit: Int { recorder.bodyLimit }

    /// Receives an event of a request.
    public func observe(_ event: RequestEvent) { recorder.observe(event) }

    /// Receives an event of a resource.
    public func observe(_ event: LoadEvent) { state.withLock { Self.add(.load(event), to: &$0) } }

    /// Receives an event of a store.
    public func observe(_ event: StoreEvent) {
        state.withLock { state in
            Self.add(.store(event), to: &state)
            if state.stores[event.store] != nil || state.stores.count < Self.maximumStores {
                state.stores[event.store, default: InspectorReport.Store(name: event.store)].note(event.kind)
            }
        }
    }

    private static func add(_ event: Event, to state: inout State) {
        state.events.append(event)
        if state.events.count > maximumEvents { _ = state.events.popFirst() }
    }

    /// The events of resources and stores that have happened since an instant, and the stores.
    func changes(
        since instant: ContinuousClock.Instant
    ) -> (events: [Event], stores: [InspectorReport.Store]) {
        state.withLock { state in
            (state.events.filter { $0.instant > instant }, state.stores.values.sorted { $0.name < $1.name })
        }
    }

    /// What is known at this moment.
    ///
    /// - Parameter locator: Its services are drawn and asked for their health. The default is `nil`, which leaves them out.
    public func report(of locator: ServiceLocator? = nil) async -> InspectorReport {
        let health = await locator?.health()
        let (timelines, date) = recorder.calls
        let (events, stores) = state.withLock { (Array($0.events), $0.stores.values.sorted { $0.name < $1.name }) }
        var report = InspectorReport(program: program)
        report.har.entries = recorder.detailedEntries(of: timelines)
        report.har.comment = recorder.comment
        report.events = InspectorReport.events(timelines, events, date)
        if !stores.isEmpty { report.stores = stores }
        if let locator { report.locator = InspectorReport.Drawing(svg: locator.graph().svg) }
        report.health = health.map(InspectorReport.Health.init)
        return report
    }
}
