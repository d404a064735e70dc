import Synchronization

/// Finds services by their protocol: a set of registrations, and a parent that is asked for what is not in the set.
///
/// A program makes one root locator in its bootstrap code, registers services in it, and hands the locator, or better
/// the resolved services, to whoever needs them. A child locator covers registrations of its parent for one scope.
///
/// ```swift
/// let locator = ServiceLocator(name: "app")
/// try locator.register(SystemClock(), as: (any Clock).self)
/// try locator.registerLazy((any Scheduler).self) { locator in
///     try TimerScheduler(clock: locator.resolve((any Clock).self))
/// }
/// let scheduler = try locator.resolve((any Scheduler).self)
/// ```
///
/// **Keys.** A registration is found by the type it was registered for and an optional name, never by the type of the
/// object. Types are told apart by identity: a protocol that is linked into a process twice is two types.
///
/// **Threads.** Every method may be called from any thread, but those for the main actor. Resolving a built service
/// takes no lock. The first resolve of a lazy registration runs its factory once, on the calling thread; threads that
/// come meanwhile block until it is done, so avoid first resolves inside Swift's cooperative thread pool, or resolve
/// everything once with ``validate()`` while the program starts.
///
/// **Memory.** A child retains its parent; a parent does not know its children. A strong or lazy service is retained
/// until its locator goes, also after it was replaced or unregistered or its locator was closed, because threads that
/// resolve without a lock may just be looking at it. A service that retains its own locator keeps both alive for ever:
/// give it a ``LocatorReference`` instead.
public final class ServiceLocator: Sendable {
    /// What errors call this locator.
    public let name: String
    /// Who is asked for what is not registered here.
    public let parent: ServiceLocator?
    /// How many registrations this locator accepts in its life, replaced and unregistered ones included.
    public let registrationLimit: Int

    let table: RegistrationTable
    let closing = Mutex(Closing.open)
    /// What was told of the end, each once. Empty while nobody closes.
    let told = Mutex<Set<ObjectIdentifier>>([])
    let watch: ScopeWatch?

    /// A root locator that every process has, for programs that need only one. It is never closed by itself.
    public static let shared = ServiceLocator(name: "shared")

    /// The locator of the current task: ``shared`` unless a caller has put another one in its place.
    ///
    /// What is built from the current locator can be given doubles for the length of a call, in one task and its
    /// children, while other tasks go on with theirs:
    ///
    /// ```swift
    /// try await ServiceLocator.$current.withValue(doubles) { try await checkout() }
    /// ```
    ///
    /// Child tasks and `Task { }` inherit it; detached tasks and dispatch queues do not.
    @TaskLocal public static var current: ServiceLocator = .shared

    /// Makes a locator without registrations.
    ///
    /// - Parameters:
    ///   - name: What errors call it.
    ///   - parent: Who is asked for what is not registered here; nil makes a root. It is retained.
    ///   - registrationLimit: How many registrations it accepts in its life. One more is
    ///     ``ServiceLocatorError/Reason/tooManyRegistrations``.
    public convenience init(name: String, parent: ServiceLocator? = nil, registrationLimit: Int = 65_536) {
        self.init(name: name, parent: parent, registrationLimit: registrationLimit, watch: parent?.watch)
    }

    /// Makes a locator that reports, as its children will, whether it was closed.
    package init(name: String, parent: ServiceLocator?, registrationLimit: Int = 65_536, watch: ScopeWatch?) {
        self.name = name
        self.parent = parent
        self.registrationLimit = registrationLimit
        self.watch = watch
        table = RegistrationTable(limit: registrationLimit, parent: parent?.table.root)
        watch?.opened(self)
    }

    deinit {
        watch?.released(name: name, unclosed: isClosed ? [] : closeableLabels)
    }
}
