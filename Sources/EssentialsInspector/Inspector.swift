import EssentialsHTTP
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
/// Paths, and the names of services, are shown as they are.
///
/// It can be used from any thread.
public final class Inspector: RequestObserver, LoadObserver, StoreObserver {
    /// The number of exchanges that are kept.
    public static let maximumExchanges = 500
    /// The number of events of resources and stores that are kept.
    public static let maximumEvents = 2_000
    private static let maximumBytes = 8 << 20
    /// The number of stores that are shown.
    private static let maximumStores = 100

    /// An event, which becomes a text only in a report.
    enum Event: Sendable {
        case request(RequestEvent)
        case load(LoadEvent)
        case store(StoreEvent)

        var time: SteadyInstant {
            switch self {
            case .request(let event): event.time
            case .load(let event): SteadyInstant(event.instant)
            case .store(let event): SteadyInstant(event.instant)
            }
        }
    }

    private struct State {
        var events = Fifo<Event>()
        /// The number of events so far.
        var count: UInt64 = 0
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

    /// Records a call.
    public func observer(of call: RequestCall) -> any RequestObserver { recorder.observer(of: call) }

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
        state.count += 1
        if state.events.count > maximumEvents { _ = state.events.popFirst() }
    }

    /// What is known at this moment.
    ///
    /// - Parameter locator: Its services are drawn and asked for their health. The default is `nil`, which leaves them out.
    public func report(of locator: ServiceLocator? = nil) async -> InspectorReport {
        let changes = changes(since: nil)
        var report = InspectorReport(program: program)
        report.cursor = changes.now.text
        report.har.entries = changes.entries.suffix(Self.maximumExchanges)
        report.har.comment = changes.comment
        report.events = changes.events
        report.take(await InspectorState(of: locator, changes.stores))
        return report
    }

    /// A moment of all that is kept.
    struct Cursor: Sendable, Hashable {
        let requests: HARRecorder.Cursor
        /// The number of events of resources and stores.
        let events: UInt64

        init(_ requests: HARRecorder.Cursor, _ events: UInt64) { (self.requests, self.events) = (requests, events) }

        var text: String { "\(requests.text)-\(events)" }

        /// Reads a text; `nil` if it is no moment.
        init?(_ text: String) {
            guard let end = text.lastIndex(of: "-"), let requests = HARRecorder.Cursor(String(text[..<end])),
                let events = UInt64(text[text.index(after: end)...])
            else { return nil }
            self.init(requests, events)
        }
    }

    /// What has changed since a moment.
    struct Changes {
        let entries: [HAR.Entry]
        let events: [InspectorReport.Event]
        let stores: [InspectorReport.Store]?
        let now: Cursor
        /// The number of exchanges that are not kept any more.
        let dropped: Int
        let comment: String?
    }

    /// What has changed since a moment; all that is kept without one.
    func changes(since cursor: Cursor?) -> Changes {
        // The moments of another program say nothing of this one.
        let cursor = cursor.flatMap { recorder.isOwn($0.requests) ? $0 : nil }
        let requests = recorder.changes(since: cursor?.requests)
        let (events, count, stores) = state.withLock { state in
            // A text of a peer can have a number that is too great.
            let start = cursor.map { min($0.events, state.count) } ?? 0
            let new = Int(clamping: min(state.count - start, UInt64(state.events.count)))
            return (Array(state.events).suffix(new), state.count, state.stores.values.sorted { $0.name < $1.name })
        }
        let all = requests.events.map(Event.request) + events
        return Changes(
            entries: requests.entries, events: InspectorReport.events(all) { recorder.date(of: $0) },
            stores: stores.isEmpty ? nil : stores, now: Cursor(requests.now, count), dropped: requests.dropped,
            comment: requests.comment)
    }
}
