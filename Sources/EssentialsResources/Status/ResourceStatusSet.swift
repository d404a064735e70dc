import EssentialsHTTP
public import EssentialsRequests
import EssentialsTools

/// The common status of several resources.
///
/// ```swift
/// let status = ResourceStatusSet(cart, orders)
/// for await current in status.statuses { statusLine.show(current) }
/// retryButton.onPress = { status.retryFailed() }
/// ```
///
/// A set holds its resources, but does not observe them: it counts as an observer only while ``statuses`` is read. It
/// can be used from any task and thread.
public final class ResourceStatusSet: Sendable {
    /// A load or a request that was started by hand.
    private final class Manual: Sendable {
        let isRunning: @Sendable () -> Bool
        /// Whether it will never run again.
        let hasEnded: @Sendable () -> Bool

        init(isRunning: @escaping @Sendable () -> Bool, hasEnded: @escaping @Sendable () -> Bool) {
            (self.isRunning, self.hasEnded) = (isRunning, hasEnded)
        }
    }

    /// The rules. The first one that applies decides.
    public let rules: [ResourceStatus.Rule]
    let members: [StatusMember]
    /// The signals of the readers of the statuses.
    private let signals = ChangeSignals()
    private let manual = Mutex<[Manual]>([])
    /// The maximum number of tracked requests. Beyond it the oldest no longer counts.
    private static let maximumManual = 1_024

    init(_ members: [StatusMember], _ rules: [ResourceStatus.Rule]) {
        self.members = members
        self.rules = rules
    }

    /// Creates a set of resources with contents of different types.
    ///
    /// - Parameters:
    ///   - resources: The resources. A resource whose body could not be read as its content type counts as failed.
    ///   - rules: The rules. The first one that applies decides.
    public convenience init<each Content: Sendable>(
        _ resources: repeat Resource<each Content>, rules: [ResourceStatus.Rule] = ResourceStatus.standardRules
    ) {
        self.init(StatusMember.list(repeat each resources), rules)
    }

    /// Creates a set of resources without types. Content of any type counts as content.
    ///
    /// - Parameters:
    ///   - resources: The resources.
    ///   - rules: The rules. The first one that applies decides.
    public convenience init(
        _ resources: [AnyResource], rules: [ResourceStatus.Rule] = ResourceStatus.standardRules
    ) {
        self.init(resources.map { StatusMember($0) }, rules)
    }

    // MARK: Status

    /// The current status. Reading it sends nothing and waits for nothing.
    public var current: ResourceStatus { StatusRules.status(of: parts, by: rules) }

    /// The statuses: the current one, then each that differs from the previous one.
    ///
    /// A reader that is slower than the changes finds only the newest status. There can be any number of readers. The
    /// sequence ends when the calling task is cancelled or the service is closed. Its reader counts as an observer of
    /// each resource, and keeps them in memory.
    public var statuses: ValueSequence<ResourceStatus> {
        ValueSequence(of: { self.current }, isSame: { $0.isSame(as: $1) }, showing: { $0 }) { signal in
            let resources = self.members.map { AnyResource(service: $0.service, core: $0.handle) }
            return JointObservation(of: resources, signal, and: self.signals)
        }
    }

    /// A line for people, such as `loading, 41 s old, last response 500`. The age is that of the oldest content.
    public var line: String {
        let parts = parts
        let ages = members.compactMap { $0.age() }
        return StatusLine(
            isLoading: parts.contains { $0.isLoading }, age: ages.max(), isComplete: parts.allSatisfy { $0.hasContent },
            failure: parts.lazy.compactMap(\.failure).first
        ).text
    }

    private var parts: [StatusRules.Part] {
        let isManual = manual.withLock { $0 }.contains { $0.isRunning() }
        return members.map { member in
            var part = member.part()
            part.isLoadingManually = isManual
            return part
        }
    }

    // MARK: Loads by hand

    /// Loads the resources whose last load has failed. The loads count as manual. If such a resource is already being
    /// loaded again, the running load counts instead of a new one.
    public func retryFailed() {
        for member in members where member.part().failure != nil {
            let core = member.handle.current
            let run = core.newestLoad ?? member.load()
            add(Manual(isRunning: { core.isRunning(run) }, hasEnded: { run.hasEnded }))
        }
        signals.raise()
    }

    /// Makes a request count as manual for the rule `ResourceStatus.Rule.manualLoading`, as after pulling down a list.
    /// While it runs, loads of the set's resources count as manual.
    ///
    /// - Parameter request: The request, started or not. At most 1,024 requests that have not ended count.
    public func track<Content: Sendable>(_ request: ResourceRequest<Content>) {
        add(Manual(isRunning: { request.phase == .running }, hasEnded: { request.isCompleted }))
        request.onCompletion { [signals] _ in signals.raise() }
        signals.raise()
    }

    private func add(_ new: Manual) {
        let ended = manual.withLock { $0 }.filter { $0.hasEnded() }
        let dropped = manual.withLock { manual -> [Manual] in
            let dropped = manual
            manual.removeAll { known in ended.contains { $0 === known } }
            if manual.count >= Self.maximumManual { manual.removeFirst() }
            manual.append(new)
            return dropped
        }
        // The last references to requests may be released here, outside the lock.
        _ = consume dropped
    }
}

/// A resource of a set, without the type of its content.
struct StatusMember: Sendable {
    let handle: ResourceCore
    let service: HTTPResourceService
    /// Returns the facts that the rules need.
    let part: @Sendable () -> StatusRules.Part
    /// Returns the age of the content; `nil` if there is none.
    let age: @Sendable () -> Duration?
    /// Starts a load.
    let load: @Sendable () -> Load

    init<Content: Sendable>(_ resource: Resource<Content>) {
        handle = resource.handle
        service = resource.service
        part = {
            let state = resource.state
            return StatusRules.Part(
                isLoading: state.isLoading, hasContent: state.content != nil, failure: state.failure)
        }
        age = {
            let state = resource.state
            return state.content == nil ? nil : state.age
        }
        load = { resource.beginRetry(in: resource.prepare()) }
    }

    init(_ resource: AnyResource) {
        let (service, handle) = (resource.service, resource.handle)
        self.handle = handle
        self.service = service
        part = {
            let facts = handle.current.facts
            return StatusRules.Part(
                isLoading: facts.loads > 0, hasContent: facts.entity != nil, failure: facts.failure)
        }
        age = { handle.current.facts.contentTime.map { service.clock.now - $0 } }
        // The load reads content of the types that are in use. This handle adds no type.
        load = { Resource<Never>(service: service, core: handle).beginRetry(in: service.adoptEnvironment()) }
    }

    static func list<each Content: Sendable>(_ resources: repeat Resource<each Content>) -> [StatusMember] {
        var members: [StatusMember] = []
        for resource in repeat each resources { members.append(StatusMember(resource)) }
        return members
    }
}

extension Resource {
    fileprivate func beginRetry(in environment: AdoptedEnvironment) -> Load {
        let core = core
        let load = core.beginLoad(LoadOptions(.current, of: core, service, in: environment), service, isStarted: true)
        load.start()
        return load
    }
}
