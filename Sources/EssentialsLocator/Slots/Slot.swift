import Synchronization

/// One registration in one locator, whatever its service's type.
///
/// A slot is never changed into another registration: replacing a registration puts a new slot in its place. So an
/// attempt that began on the old one ends on the old one and cannot overwrite the new.
///
/// `@unchecked Sendable`: the stored properties are constants once the slot is published, all of `Sendable` types but
/// `storage` and `owner`. The owner is used only by those who keep it alive. What `storage` points to is the business of
/// the one subclass that has it, ``ServiceSlot``, which argues for it.
@usableFromInline
class Slot: @unchecked Sendable {
    /// How far the registration has come.
    enum State: UInt8, AtomicRepresentable {
        /// Lazy, and not built.
        case pending
        /// A thread runs the factory.
        case building
        /// A thread runs the factory, and others have asked to be told of its end.
        case contended
        /// The service is stored; it may be copied without asking any further.
        case ready
        /// Each resolve has to ask the slot: weak, transient and asynchronous kinds.
        case dynamic
        /// Removed before it was built.
        case withdrawn
        /// Its locator was closed.
        case closed
    }

    /// The locator of the registration, which outlives it. Written once, before the slot is published in its table.
    private(set) var owner: Unmanaged<ServiceLocator>?
    /// The registered type.
    let type: Any.Type
    let key: ServiceKey
    let site: RegistrationSite
    let kind: ServiceGraph.Kind
    /// Unique in the process, and greater than that of all registrations before it.
    let id: UInt64
    let state: Atomic<State>
    /// Holds a service of the key's type once the slot is ready, and no value before. Nil for kinds that store none.
    ///
    /// A pointer, because a stored `var` would be checked for exclusive access at each read; here and untyped, so that
    /// a search need not be generic.
    let storage: UnsafeMutableRawPointer?
    /// The thread that runs the factory, 0 if none does.
    ///
    /// Written by that thread after it has moved the state to `building`, and cleared by it before it moves the state on.
    /// Relaxed: a thread that finds its own name here wrote it itself, and the name of a thread that waits was written
    /// before that thread took the ledger's lock.
    let builder = Atomic<UInt>(0)
    /// When the service was stored, as a number that grows in the process; 0 while there is none.
    ///
    /// Released by ``markStored()`` with what was stored, and acquired by ``isStored``; relaxed where only the order counts.
    let builtAt = Atomic<UInt64>(0)
    /// Whether the registration was taken out of its table.
    ///
    /// Its order against the end of a failing attempt is argued for in ``LazySlot``, which needs one; ``AsyncSlot`` reads
    /// it under the lock that whoever sets it takes afterwards.
    let isRemoved = Atomic<Bool>(false)
    /// The registrations that this one's factory resolved, in the order of their first use.
    let dependencies = Mutex(Dependencies())

    /// Both relaxed: adding to one atomic has an order that all threads agree on, and of two additions of which one happens
    /// before the other that one has the smaller number. So what was built from a service is younger than it.
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

    /// Acquires, so that whoever sees `ready` sees the service that was stored before it.
    @inline(__always)
    final var isReady: Bool { state.load(ordering: .acquiring) == .ready }

    /// Says whose this is going to be, before it is published.
    final func belongs(to locator: ServiceLocator) { owner = .passUnretained(locator) }

    /// Whether a service was stored; it stays until the slot dies. Acquires as ``isReady`` does.
    final var isStored: Bool { builtAt.load(ordering: .acquiring) > 0 }

    /// Says that the service is stored. Releases what was written before.
    final func markStored() {
        builtAt.store(Self.lastBuild.wrappingAdd(1, ordering: .relaxed).newValue, ordering: .releasing)
    }

    /// Notes that this registration's factory resolved another one.
    final func note(_ dependency: Dependency) {
        dependencies.withLock { $0.add(dependency) }
    }

    /// Asks the builder to end its attempt under the ledger's lock. False if nobody builds any more.
    final func contend() -> Bool {
        let (isDone, before) = state.compareExchange(
            expected: .building, desired: .contended, ordering: .acquiringAndReleasing)
        return isDone || before == .contended
    }

    // MARK: What kinds differ in

    /// Puts the service for `requester` into memory for one, which is not initialized before and is when this says so.
    ///
    /// Untyped, as ``storage`` is: of all that a search does, only this knows the service's type, and what is generic
    /// looks up metadata each time.
    func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision { .absent }

    /// The same with a tuple of arguments, which only one kind takes.
    func provide(
        into memory: UnsafeMutableRawPointer, owner: ServiceLocator, requester: ServiceLocator,
        arguments: ArgumentTuple
    ) throws(ServiceLocatorError) -> Provision {
        guard state.load(ordering: .acquiring) != .closed else { throw .closed(owner) }
        guard !isGone else { return provisionWhenGone }
        throw .argumentMismatch(self, in: owner, takes: "none", given: arguments.names())
    }

    /// Whether a weakly held object is gone. Loads it: call it without a lock, because its last reference may be this one.
    var isGone: Bool { false }

    /// Whether this is a ``TransientSlot`` that may build, or a ``WeakSlot`` that may load, without asking any further.
    var canAnswerAtOnce: Bool { false }

    /// What a resolve is told that finds the object gone.
    var provisionWhenGone: Provision { .absent }

    /// The service, nil while there is none. For error texts and closing.
    func stored() -> Any? { nil }

    /// The stored service, if it wants to be told of its locator's end.
    var closeable: (any Closeable)? { nil }

    /// Forgets a factory that has not run yet. Call it without a lock: what the factory captured is released here.
    func withdraw() { isRemoved.store(true, ordering: .sequentiallyConsistent) }

    /// Lets no later resolve succeed, and forgets a factory that does not run.
    func close() { state.store(.closed, ordering: .releasing) }

    /// Waits for an attempt that runs.
    func ended(for closing: WaitNode) async {}

    /// How far the registration has come, as graphs show it.
    var graphState: ServiceGraph.State {
        switch state.load(ordering: .acquiring) {
        case .pending, .withdrawn: .unbuilt
        case .building, .contended: .building
        case .ready: .built
        case .closed: .closed
        case .dynamic: kind == .transient ? .eachTime : isGone ? .gone : .built
        }
    }

    /// Builds or checks what is registered; nil if nothing is wrong.
    func check(owner: ServiceLocator) async -> ServiceLocatorError? {
        isGone ? .serviceGone(label(in: owner), site: site) : nil
    }

    // MARK: Texts

    /// The registered type, with its module.
    final var typeName: String { Self.typeName(type) }

    static func typeName(_ type: Any.Type) -> String {
        if let box = type as? any MainActorBoxing.Type { return "\(box.boxedTypeName) (main actor)" }
        return String(reflecting: type)
    }

    /// What a resolve fails with; the service is dropped.
    final func trial(owner: ServiceLocator) -> ServiceLocatorError? {
        func trial<Service>(_ type: Service.Type) -> ServiceLocatorError? {
            do throws(ServiceLocatorError) {
                _ = try ServiceMemory.fill(type) { memory throws(ServiceLocatorError) in
                    try provide(into: memory, owner: owner, requester: owner) == .provided
                }
                return nil
            } catch {
                return error
            }
        }
        return _openExistential(type, do: trial)
    }

    /// The registered type and name as errors show them.
    final var label: String { Self.label(typeName, name: key.name) }

    /// The same with the locator.
    final func label(in owner: ServiceLocator) -> String { "\(label) in \"\(owner.name)\"" }

    static func label(_ typeName: String, name: String?) -> String {
        guard let name else { return typeName }
        return "\(typeName) named \"\(name)\""
    }
}

/// What a slot has to say to a resolve.
enum Provision {
    /// The service is in the memory that was given.
    case provided
    /// Not here: ask the parent.
    case absent
    /// Not here, and no parent is to be asked.
    case missing
    /// The registration was removed meanwhile: search this locator again.
    case moved
}
