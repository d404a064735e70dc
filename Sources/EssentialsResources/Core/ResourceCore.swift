import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// The object of one resource, to which all handles lead: its state, its lock, and the delivery of changes.
///
/// All decisions are those of ``CoreState``, a value that only the files of this folder change. Other code uses the
/// functions of the core. They can be called from any thread, and call no observer and no foreign code under the lock.
@usableFromInline
final class ResourceCore: Sendable {
    /// The header fields that select the representation.
    let variant: ResourceVariant
    /// The parts of the state that are read without the lock.
    let flags = ResourceFlags()
    private let state: Mutex<CoreState>
    /// The place in the service's table. The table protects it.
    let tableIndex = Atomic<Int32>(-1)
    /// Tells the load observers; `nil` if there are none.
    let reporter: LoadReporter?
    #if DEBUG
        private let mark = LiveMark(.core)
    #endif

    init(_ address: ResourceURL, _ variant: ResourceVariant, _ reporter: LoadReporter? = nil) {
        state = Mutex(CoreState(address: address, isReported: reporter != nil))
        (self.variant, self.reporter) = (variant, reporter)
    }

    // MARK: The lock

    /// Reads the state, or changes parts of it that observers do not see. Only the files of the core call it.
    func reading<Result>(_ body: (inout CoreState) -> Result) -> Result { state.withLock { body(&$0) } }

    /// Changes the state under the lock, and delivers the events to the observers. Replaced values are released outside
    /// the lock. Only the files of the core call it.
    func changing<Result>(_ change: (inout CoreState) -> Result) -> Result {
        let (result, delivers, reports, polling, displaced) = state.withLock { state in
            let displaced = Displaced(state)
            let result = change(&state)
            writeFlags(of: state)
            state.polling?.note(state.machine, state.facts)
            let delivers = !state.pending.isEmpty && !state.isDelivering
            if delivers { state.isDelivering = true }
            let reports = !state.reports.isEmpty && !state.isReporting
            if reports { state.isReporting = true }
            return (result, delivers, reports, state.polling, displaced)
        }
        // A change that is made while these values are released is delivered after this one.
        _ = consume displaced
        if reports { tellReports() }
        polling?.settle(self)
        if delivers { deliver() }
        return result
    }

    /// Writes the parts of the state that are read without the lock. It is called under the lock.
    private func writeFlags(of state: CoreState) {
        let bits = state.bits
        flags.set(bits, freshUntil: bits.contains(.isForwarded) ? nil : state.facts.freshUntil)
    }

    /// Replaces the content. The projections for the views are computed outside the lock, and again if a view or a
    /// layer was added or removed meanwhile.
    ///
    /// - Parameters:
    ///   - value: The new content of the server.
    ///   - codecs: Read the value as the types of the views.
    ///   - number: The number of the layer that ends with the change; `nil` keeps all layers.
    ///   - change: Changes the state under the lock. It receives the content for all views, without and with the
    ///     layers.
    func replacing<Result>(
        with value: LoadedValue, _ codecs: CodecRegistry, without number: UInt64? = nil,
        _ change: (inout CoreState, LayeredContent, _ shown: [any AnyProjection]) -> Result
    ) -> Result {
        var server: [any AnyProjection] = []
        var known = 0
        while true {
            let (views, layers) = state.withLock { ($0.views, $0.layers) }
            // The views have moved to another resource, because both have the same URL now.
            if views.count < known { (server, known) = ([], 0) }
            for view in views[known...] {
                if let projection = view.snapshot.project(value, codecs) { server.append(projection) }
            }
            known = views.count
            var content = LayeredContent(layers: layers, server: server)
            if let number { _ = content.remove(number) }
            let shown = content.shown
            let result = changing { state -> Result? in
                guard state.views.count == known, state.hasLayers(layers) else { return nil }
                return change(&state, content, shown)
            }
            if let result { return result }
        }
    }

    // MARK: Observers

    /// The number of observers, after those have ended by themselves that nothing needs any more.
    var observerCount: Int {
        sweep()
        return state.withLock { $0.observers.count }
    }

    /// The number of observers at this moment, which may include some that end soon.
    var attachedObservers: Int { state.withLock { $0.observers.count } }

    /// Lets observers end by themselves if nothing needs them any more.
    func sweep() {
        guard flags.current.contains(.hasEndingObservers) else { return }
        for receiver in state.withLock({ $0.observers.endingByThemselves }) { receiver.sweep() }
    }

    /// Adds an observer. It first receives `attached` with the current state.
    ///
    /// - Parameters:
    ///   - receiver: The observer.
    ///   - refresh: How often the resource is loaded again for this observer.
    ///   - service: The service, whose configuration may also request regular loads; `nil` begins no regular loads.
    /// - Returns: The number with which it is removed.
    func add(
        _ receiver: any ChangeReceiver, refreshing refresh: ResourceRefresh? = nil,
        _ service: HTTPResourceService? = nil
    ) -> UInt64 {
        let known = service.map { ($0, $0.effective(for: self)) }
        let added = changing { state -> (number: UInt64, loads: [Load])? in
            guard state.forward == nil else { return nil }
            let number = state.add(receiver) { state, number in
                guard let (service, configuration) = known else {
                    state.polling?.note(.joined(nil, number: number))
                    return
                }
                state.observingService = service
                state.noteObserver(number, refresh, configuration, service)
            }
            return (number, state.loads)
        }
        guard let added else { return current.add(receiver, refreshing: refresh, service) }
        // For the priority, an observer counts like a waiting task.
        for load in added.loads { raise(load, to: nil) }
        return added.number
    }

    /// Adds an observer like ``add(_:refreshing:_:)``, but leaves the delivery to the next call of ``changing(_:)``. It
    /// can therefore be called under a lock.
    ///
    /// - Parameter prepare: It is called with the number under the lock of the resource, before any delivery.
    func addSilently(
        _ receiver: any ChangeReceiver, _ configuration: EffectiveConfiguration, _ service: HTTPResourceService,
        _ prepare: (UInt64) -> Void
    ) -> UInt64 {
        let number = state.withLock { state -> UInt64? in
            guard state.forward == nil else { return nil }
            return state.add(receiver) { state, number in
                state.noteObserver(number, nil, configuration, service)
                prepare(number)
            }
        }
        return number ?? current.addSilently(receiver, configuration, service, prepare)
    }

    /// Removes an observer, even if it has moved to a resource to which this one leads. When the last observer is
    /// removed, the loads that only observers need are cancelled.
    func remove(observer number: UInt64) {
        typealias Removed = ((any ChangeReceiver)?, [Load], HTTPResourceService?, ForwardedResource?)
        let (receiver, ended, service, forward) = changing { state -> Removed in
            guard let receiver = state.removeObserver(number) else { return (nil, [], nil, state.forward) }
            flags.interrupt()
            let service = state.keepers == 0 ? state.observingService.take() : nil
            guard state.observers.count == 0 else { return (receiver, [], service, nil) }
            return (receiver, state.endLoads(state.machine.cancelUnawaited(includingStarted: false)), service, nil)
        }
        // Every resource of the chain is visited, because each can still have observers.
        if let forward { return forward.next.remove(observer: number) }
        for load in ended { load.cancel() }
        // The last references may be released here, outside the lock.
        _ = (receiver, service)
    }

    /// Ends all observations, because the service was closed.
    func finishObservers() {
        let (receivers, service) = state.withLock { state in
            flags.interrupt()
            state.keepers = 0
            return (state.observers.removeAll(), state.observingService.take())
        }
        // The last reference may be released here, outside the lock.
        _ = service
        for receiver in receivers { receiver.finish() }
    }

    /// Records the configuration of an observed resource, which may switch its regular loads on or off.
    func note(_ configuration: EffectiveConfiguration, _ service: HTTPResourceService) {
        changing { $0.noteConfiguration(configuration, service) }
    }

    /// Records for the regular loads whether there is a route to the server.
    func note(isReachable: Bool) { changing { $0.polling?.note(.reachable(isReachable)) } }

    // MARK: Views

    /// The snapshot of a content type; `nil` if the type was not requested yet.
    @usableFromInline
    func object(of contentType: ObjectIdentifier) -> AnyObject? { state.withLock { $0.views.object(of: contentType) } }

    /// The snapshot of a content type. The first call for a type reads the kept content as this type.
    func snapshot<Content: Sendable>(
        of type: Content.Type, _ codecs: CodecRegistry
    ) -> ResourceSnapshot<Content> {
        if let object = object(of: ObjectIdentifier(type)) { return ResourceSnapshot.typed(object) }
        return addView(of: type, codecs)
    }

    /// Adds a view of a content type, unless there is one.
    @usableFromInline
    func addView<Content: Sendable>(of type: Content.Type, _ codecs: CodecRegistry) -> ResourceSnapshot<Content> {
        while true {
            let (version, kept, forward) = state.withLock { ($0.facts.version, $0.kept, $0.forward) }
            // A forwarded resource has no views, so its handles come here. Forwarding has changed its version.
            if let forward { return forward.end.snapshot(of: type, codecs) }
            // This may decode a body of at most 16 KiB, so it happens outside the lock.
            let projection = kept?.value.content(of: type, codecs).map { Projection<Content>(result: $0) }
            let added = state.withLock { state -> ResourceSnapshot<Content>? in
                if let present = state.snapshot(of: type) { return present }
                guard state.facts.version == version else { return nil }
                let empty = ResourceSnapshot<Content>(state.facts)
                state.views.append(ResourceView(projection.map { empty.next(state.facts, .replace([$0])) } ?? empty))
                return state.snapshot(of: type)
            }
            if let added { return added }
        }
    }

    // MARK: Facts

    /// The address.
    var address: ResourceURL { state.withLock { $0.address } }

    /// The facts that all views share.
    var facts: ResourceFacts { state.withLock { $0.facts } }

    /// The size of the content if it is known; see ``CoreState/knownBytes``.
    var knownBytes: Int? { state.withLock { $0.knownBytes } }

    /// The address, and the definition that was used last to obtain the resource.
    var addressAndDefinition: (ResourceURL, ResourceDefinition?) { state.withLock { ($0.address, $0.definition) } }

    /// Uses the settings of a definition for later loads.
    func define(_ definition: ResourceDefinition) {
        let kept = definition.isPlain ? nil : definition
        let replaced = state.withLock { state in
            defer { state.definition = kept }
            return state.definition
        }
        // Its codecs may be released here, outside the lock.
        _ = consume replaced
    }

    /// Uses the settings of the definition of another resource, if it has one.
    func define(as other: ResourceCore) {
        guard other !== self, let definition = other.addressAndDefinition.1 else { return }
        define(definition)
    }

    /// The kept configuration for a method, if it has this version.
    func configuration(_ method: HTTPRequest.Method, _ version: UInt64) -> EffectiveConfiguration? {
        state.withLock { state in
            for kept in state.configurations where kept.version == version && kept.method == method { return kept }
            return nil
        }
    }

    /// Keeps a configuration for a method, and drops those of earlier versions.
    func keep(_ configuration: EffectiveConfiguration) {
        let replaced = state.withLock { state in
            let replaced = state.configurations
            state.configurations.removeAll {
                $0.version != configuration.version || $0.method == configuration.method
            }
            // There are few methods. The limit is for programs that invent names.
            guard state.configurations.count < 8 else { return replaced }
            // The configuration for loads comes first.
            let index = configuration.method == .get ? 0 : state.configurations.count
            state.configurations.insert(configuration, at: index)
            return replaced
        }
        // Closures of removed blocks, and the objects that they hold, may be released here, outside the lock.
        _ = consume replaced
    }

    // MARK: Other environments and accounts

    /// The resource to which this one refers now: itself, unless it is forwarded. This takes no lock.
    var current: ResourceCore { flags.current.contains(.isForwarded) ? forwarded : self }

    /// The flags of the resource to which this one leads. This is rare, so it is kept out of the code that reads flags.
    @inline(never)
    var forwardedFlags: ResourceFlags.Bits { current.flags.current }

    @inline(never)
    private var forwarded: ResourceCore { state.withLock { $0.forward }?.end ?? self }

    /// Changes the address, and removes content and failure, which belong to the old one. ``MovedResource/finish()``
    /// notifies the observers.
    func move(to address: ResourceURL) -> MovedResource {
        state.withLock { state in
            // What ends here has the old address.
            defer { state.address = address }
            return wipe(&state, .environment)
        }
    }

    /// Removes content and failure, because the account has ended. ``MovedResource/finish()`` notifies the observers.
    ///
    /// - Parameter keepsInterest: Whether loaded content still counts as loaded when the next account is entered.
    func leave(_ reason: WipeReason, keepsInterest: Bool = false) -> MovedResource {
        state.withLock { state in
            let wasLoaded = state.wasLoaded
            defer { state.isWithdrawn = keepsInterest && wasLoaded }
            return wipe(&state, reason)
        }
    }

    private func wipe(_ state: inout CoreState, _ reason: WipeReason) -> MovedResource {
        let (wasLoaded, displaced) = (state.wasLoaded, Displaced(state))
        state.isWithdrawn = false
        let ended = endSession(&state, reason)
        writeFlags(of: state)
        return MovedResource(
            core: self, ended: ended, service: wasLoaded ? state.reloadingService : nil, displaced: displaced)
    }

    /// Removes content and failure. If the reason ends an account or environment, earlier changes are not delivered any
    /// more to observers that have not received them yet.
    ///
    /// - Returns: The loads, which have all ended. They must be cancelled without the lock.
    func endSession(_ state: inout CoreState, _ reason: WipeReason) -> [Load] {
        let ended = state.wipe(reason)
        if reason.endsSession { flags.begin(at: state.facts.version) }
        return ended
    }

    /// Changes the address of this resource, and merges another resource with the same address into it. Both lose
    /// content and failure.
    ///
    /// The loads of both are cancelled. Writes continue, but no longer change the state. The observers of the other
    /// resource follow when it has delivered its changes; see ``handOver(_:)``.
    ///
    /// - Returns: Both resources. ``MovedResource/finish()`` notifies their observers.
    func absorb(_ other: ResourceCore, at address: ResourceURL) -> [MovedResource] {
        // The lock of a forwarded resource is always taken before that of the resource to which it leads.
        other.state.withLock { lost in
            state.withLock { kept in
                let (keptLoaded, lostLoaded) = (kept.facts.wasLoaded, lost.facts.wasLoaded)
                let (keptContent, lostContent) = (Displaced(kept), Displaced(lost))
                let (lostEnded, keptEnded) = (lost.takeLoads(), kept.takeLoads())
                // The versions that the moved observers see continue to rise, and no load number is used by both
                // resources. The change by which the other resource is wiped is still delivered.
                lost.facts.version = max(kept.facts.version, lost.facts.version)
                _ = other.endSession(&lost, .environment)
                kept.facts.version = lost.facts.version
                kept.machine.advance(past: lost.machine.last)
                lost.machine.retire()
                _ = endSession(&kept, .environment)
                flags.begin(at: lost.facts.version)
                // What has ended here had the old addresses.
                (lost.address, kept.address) = (address, address)
                kept.take(from: &lost)
                lost.forward = ForwardedResource(to: self, isReloaded: lostLoaded)
                other.writeFlags(of: lost)
                writeFlags(of: kept)
                return [
                    MovedResource(
                        core: self, ended: keptEnded, service: keptLoaded ? kept.reloadingService : nil,
                        displaced: keptContent),
                    MovedResource(core: other, ended: lostEnded, service: nil, displaced: lostContent),
                ]
            }
        }
    }

    /// Moves the observers to the resource to which this one is forwarded, after all earlier changes were delivered to
    /// them. They receive `attached` there. No change reaches an observer twice or from two threads at once.
    static func handOver(_ state: inout CoreState) -> MovedObservers? {
        guard let forward = state.forward, state.observers.count > 0 else { return nil }
        let (service, polling) = (state.reloadingService, state.polling)
        let members = state.observers.takeAll()
        (state.observingService, state.keepers) = (nil, 0)
        var target = forward.end
        while !target.state.withLock({ $0.receive(members, polling, service) }) { target = target.current }
        return MovedObservers(target: target, service: service, isReloaded: forward.isReloaded)
    }
}

/// The parts of a resource's state that are read without a lock.
///
/// They are written under the lock of the resource. A reader of several flags may see them at two different moments,
/// while a snapshot always shows one moment.
struct ResourceFlags: ~Copyable, Sendable {
    /// The flags as bits of a number.
    struct Bits: OptionSet, Sendable {
        let rawValue: UInt8
        static let isLoading = Bits(rawValue: 1)
        static let isInvalid = Bits(rawValue: 2)
        static let hasFailure = Bits(rawValue: 8)
        /// The resource forwards to another one, and nothing else is known here.
        static let isForwarded = Bits(rawValue: 16)
        /// There are observers that can end by themselves.
        static let hasEndingObservers = Bits(rawValue: 32)
    }

    private let bits = Atomic<UInt8>(0)
    /// The monotonic time until which the resource is fresh, in nanoseconds.
    private let deadline = Atomic<Int64>(.min)
    /// The version of the state at which the last account or environment was left.
    private let beginning = Atomic<UInt64>(0)
    /// Counts the events that can end the delivery of a change to observers that have not received it yet.
    private let interruptionCount = Atomic<UInt64>(0)

    /// The flags.
    var current: Bits { Bits(rawValue: bits.load(ordering: .acquiring)) }

    /// Whether the resource is fresh at a time. The boundary is included.
    func isFresh(at now: Duration) -> Bool { now.wholeNanoseconds <= deadline.load(ordering: .acquiring) }

    /// The first version of the current account and environment. States with a smaller version are not shown any more.
    var firstVersion: UInt64 { beginning.load(ordering: .acquiring) }

    /// Ends the account or environment of all versions before this one.
    func begin(at version: UInt64) {
        beginning.store(version, ordering: .releasing)
        interrupt()
    }

    /// A number that rises when an account or environment is left, and when an observer is removed.
    var interruptions: UInt64 { interruptionCount.load(ordering: .acquiring) }

    /// Makes the current delivery check again which observers receive the rest of it.
    func interrupt() { interruptionCount.add(1, ordering: .acquiringAndReleasing) }

    /// Changes the flags.
    ///
    /// - Parameter freshUntil: The end of freshness; `nil` if the resource is not fresh.
    func set(_ flags: Bits, freshUntil: Duration?) {
        bits.store(flags.rawValue, ordering: .releasing)
        deadline.store(freshUntil?.wholeNanoseconds ?? .min, ordering: .releasing)
    }
}
