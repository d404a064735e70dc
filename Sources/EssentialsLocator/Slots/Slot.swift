import EssentialsTools

/// One registration in one locator, whatever its service's type.
///
/// A slot never becomes another registration: replacing a registration publishes a new slot. An attempt to build that
/// began for the old slot therefore ends there and cannot overwrite the new one.
///
/// `@unchecked Sendable`: the stored properties are constants once the slot is published, and all but `storage` and
/// `owner` have `Sendable` types. Callers use `owner` only while they keep the locator alive. ``ServiceSlot``, the only
/// subclass that sets `storage`, explains how the memory is shared.
@usableFromInline
class Slot: @unchecked Sendable {
    /// The progress of the registration.
    enum State: UInt8, AtomicRepresentable {
        /// A lazy service that is not built.
        case pending
        /// A thread runs the factory.
        case building
        /// A thread runs the factory, and other threads wait for it.
        case contended
        /// The service is stored and may be copied.
        case ready
        /// The slot decides at each resolve: weak, transient and asynchronous kinds.
        case dynamic
        /// The registration was removed before the service was built.
        case withdrawn
        /// The locator was closed.
        case closed
    }

    /// The result of ``provide(into:owner:requester:)``.
    enum Provision {
        /// The service is in the memory that was passed.
        case provided
        /// The registration counts as absent: the search continues in the parent.
        case absent
        /// The registration counts as absent, and the search ends here.
        case missing
        /// The registration was removed: the search starts again in the same locator.
        case moved
    }

    /// The locator of the registration, which outlives the slot. Set once, before the slot is published.
    private(set) var owner: Unmanaged<ServiceLocator>?
    let type: Any.Type
    let key: ServiceKey
    let site: RegistrationSite
    let kind: ServiceGraph.Kind
    /// Unique in the process and greater than the identifiers of all earlier registrations.
    let id: UInt64
    let state: Atomic<State>
    /// Memory for a service of the registered type, which is initialized while `state` is `ready`. `nil` for kinds that
    /// store no service.
    let storage: UnsafeMutableRawPointer?
    /// The thread that runs the factory, or 0.
    ///
    /// That thread sets it after it has moved the state to `building`, and clears it before it moves the state on.
    /// Relaxed ordering is enough: a thread that finds itself here has written the value itself, and a waiting thread's
    /// value was written before that thread took the ledger's lock.
    let builder = Atomic<UInt>(0)
    /// The position of this service among all services that the process has stored, or 0 before it is stored.
    let builtAt = Atomic<UInt64>(0)
    /// Whether the registration was removed or replaced. The orderings are explained where they matter: in ``LazySlot``
    /// and ``AsyncSlot``.
    let isRemoved = Atomic<Bool>(false)
    /// The registrations that this one's factory resolved, in the order of first use.
    let dependencies = Mutex(Dependencies())

    // Relaxed ordering is enough for both counters: the additions to one atomic have a single order, and an addition
    // that happens before another one gets the smaller number.
    private static let lastID = Atomic<UInt64>(0)
    private static let lastBuild = Atomic<UInt64>(0)

    init(
        type: Any.Type, name: String?, site: RegistrationSite, kind: ServiceGraph.Kind, state: State,
        storage: UnsafeMutableRawPointer? = nil
    ) {
        self.type = type
        key = ServiceKey(ObjectIdentifier(type), name: name)
        self.site = site
        self.kind = kind
        id = Self.lastID.wrappingAdd(1, ordering: .relaxed).newValue
        self.state = Atomic(state)
        self.storage = storage
    }

    /// The memory of a service that may be copied, or `nil`. Acquires what was stored there.
    final var readyService: UnsafeMutableRawPointer? {
        state.load(ordering: .acquiring) == .ready ? storage : nil
    }

    /// Sets the owner. Call it before the slot is published.
    final func belongs(to locator: ServiceLocator) { owner = .passUnretained(locator) }

    /// Whether a service was stored, which remains until the slot is destroyed. Acquires the service.
    final var isStored: Bool { builtAt.load(ordering: .acquiring) > 0 }

    /// Notes that the service is stored. Releases the service.
    final func markStored() {
        builtAt.store(Self.lastBuild.wrappingAdd(1, ordering: .relaxed).newValue, ordering: .releasing)
    }

    /// Records that this registration's factory resolved another one.
    final func record(_ dependency: Dependency) {
        dependencies.withLock { $0.add(dependency) }
    }

    /// Asks the thread that builds to end its attempt under the ledger's lock. Returns `false` if no thread builds.
    final func contend() -> Bool {
        let (isDone, before) = state.compareExchange(
            expected: .building, desired: .contended, ordering: .acquiringAndReleasing)
        return isDone || before == .contended
    }

    // MARK: Differences between kinds

    /// Initializes `memory`, which has room for one service, if the result is `provided`.
    ///
    /// The pointer is untyped because generic code would look up metadata at every level of the search. The caller made
    /// the memory for the type of the slot's key.
    func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision { .absent }

    /// The same with arguments, which only transient registrations accept.
    func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator,
        arguments: ArgumentTuple
    ) throws(ServiceLocatorError) -> Provision {
        guard state.load(ordering: .acquiring) != .closed else { throw .closed(owner) }
        guard !isGone else { return provisionWhenGone }
        throw .argumentMismatch(self, in: owner, takes: "none", given: arguments.names())
    }

    /// Whether a weakly held object was released. Call it without a lock, because it retains and releases the object.
    var isGone: Bool { false }

    /// The result of a resolve that finds the object released.
    var provisionWhenGone: Provision { .absent }

    /// The stored service, or `nil`.
    func stored() -> Any? { nil }

    /// The stored service, unless it belongs to another owner.
    var held: Any? { nil }

    /// The identity of the service that is held: the object, or the registration if the service is a value. Both live as
    /// long as the locator, so the identity is unique.
    final func identity(of service: Any) -> ObjectIdentifier {
        ObjectIdentifier(Swift.type(of: service) is AnyClass ? service as AnyObject : self)
    }

    /// The stored service if it must be notified when its locator closes.
    final var closeable: (any Closeable)? { held as? any Closeable }

    /// Releases a factory that has not run. Call it without a lock, because it releases what the factory captured.
    func withdraw() { isRemoved.store(true, ordering: .sequentiallyConsistent) }

    /// Makes later resolves fail and releases a factory that does not run.
    func close() { state.store(.closed, ordering: .releasing) }

    /// Waits for the end of a running attempt.
    func ended(for closing: WaitNode) async {}

    /// The state that graphs show.
    var graphState: ServiceGraph.State {
        switch state.load(ordering: .acquiring) {
        case .pending, .withdrawn: .unbuilt
        case .building, .contended: .building
        case .ready: .built
        case .closed: .closed
        case .dynamic: kind == .transient ? .eachTime : isGone ? .gone : .built
        }
    }

    /// Builds or checks the service and returns the error if that fails.
    func check(owner: ServiceLocator) async -> ServiceLocatorError? {
        isGone ? .serviceGone(label(in: owner), site: site) : nil
    }

    /// The error of a resolve whose service is discarded.
    final func trial(owner: ServiceLocator) -> ServiceLocatorError? {
        func trial<Service>(_ type: Service.Type) -> ServiceLocatorError? {
            do throws(ServiceLocatorError) {
                try withUnsafeTemporaryAllocation(of: type, capacity: 1) { buffer throws(ServiceLocatorError) in
                    let memory = buffer.baseAddress!
                    guard try provide(into: memory, owner: owner, requester: owner) == .provided else { return }
                    memory.deinitialize(count: 1)
                }
                return nil
            } catch {
                return error
            }
        }
        return _openExistential(type, do: trial)
    }

    // MARK: Texts

    /// The registered type, including its module.
    final var typeName: String { Self.typeName(type) }

    static func typeName(_ type: Any.Type) -> String {
        if let box = type as? any MainActorBoxing.Type { return "\(box.boxedTypeName) (main actor)" }
        return String(reflecting: type)
    }

    /// The registered type and name.
    final var label: String { Self.label(typeName, name: key.name) }

    /// The registered type and name, and the locator.
    final func label(in owner: ServiceLocator) -> String { "\(label) in \"\(owner.name)\"" }

    static func label(_ typeName: String, name: String?) -> String {
        guard let name else { return typeName }
        return "\(typeName) named \"\(name)\""
    }
}
