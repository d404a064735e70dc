import EssentialsTools

/// Finds services by their protocol: a set of registrations, and a parent for everything that is not in the set.
///
/// A program creates one root locator when it starts, registers services in it, and passes the locator, or better the
/// resolved services, to the code that needs them. A child locator overrides registrations of its parent for one scope.
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
/// **Keys.** A registration is found by the type that it was registered for and an optional name, never by the type of
/// the object. Types are compared by identity: a protocol that is linked into a process twice is two types.
///
/// **Threads.** Every method may be called on any thread, except the methods for the main actor. Resolving a built
/// service takes no lock. The first resolve of a lazy registration runs its factory once, on the calling thread. Other
/// threads that resolve it block until it is built, so avoid first resolves in Swift's cooperative thread pool, or
/// build everything with ``validate()`` when the program starts.
///
/// **Memory.** A child retains its parent. A parent does not know its children. A strong or lazy service is retained
/// until its locator is released, even after it was replaced or unregistered or its locator was closed, because a
/// thread that resolves without a lock may be reading it. A service that retains its own locator keeps both alive
/// forever: give it a ``LocatorReference`` instead.
public final class ServiceLocator: Sendable {
    /// The name that errors show.
    public let name: String
    /// The locator that is searched for everything that is not registered here.
    public let parent: ServiceLocator?
    /// The number of registrations that this locator accepts during its life, including replaced and unregistered ones.
    public let registrationLimit: Int

    let table: RegistrationTable
    let closing = Mutex(Closing.open)
    /// Whether the end was announced.
    let ending = Atomic(false)
    /// Whether services were asked to finish what runs.
    let finishing = Atomic(false)
    /// The services that were notified of the end. Empty until the locator is closed.
    let notified = Mutex<Set<ObjectIdentifier>>([])
    let watch: ScopeWatch?
    /// Receives warnings about likely mistakes that make nothing fail.
    let warn: @Sendable (ServiceLocatorError) -> Void

    /// A root locator for programs that need only one. Nothing closes it automatically.
    public static let shared = ServiceLocator(name: "shared")

    /// The locator of the current task. The default is ``shared``.
    ///
    /// A caller can replace it for one call, in its task and the child tasks, while other tasks keep theirs:
    ///
    /// ```swift
    /// try await ServiceLocator.$current.withValue(doubles) { try await checkout() }
    /// ```
    ///
    /// Child tasks and `Task { }` inherit it. Detached tasks and dispatch queues do not.
    @TaskLocal public static var current: ServiceLocator = .shared

    /// Creates a locator without registrations.
    ///
    /// - Parameters:
    ///   - name: The name that errors show.
    ///   - parent: The locator that is searched for everything that is not registered here. It is retained. `nil`
    ///     creates a root.
    ///   - registrationLimit: The number of registrations that the locator accepts during its life. One more throws
    ///     ``ServiceLocatorError/Reason/tooManyRegistrations``. The default is 65,536.
    public convenience init(name: String, parent: ServiceLocator? = nil, registrationLimit: Int = 65_536) {
        self.init(name: name, parent: parent, registrationLimit: registrationLimit, watch: nil)
    }

    /// - Parameters:
    ///   - watch: Records whether this locator and its descendants are closed. The default is the parent's.
    ///   - warn: Receives the warnings of this locator and its descendants. The default is the parent's, and for a root
    ///     it prints them on standard error.
    package init(
        name: String, parent: ServiceLocator? = nil, registrationLimit: Int = 65_536, watch: ScopeWatch?,
        warn: (@Sendable (ServiceLocatorError) -> Void)? = nil
    ) {
        self.name = name
        self.parent = parent
        self.registrationLimit = registrationLimit
        self.watch = watch ?? parent?.watch
        let printWarning: @Sendable (ServiceLocatorError) -> Void = { $0.printWarning() }
        self.warn = warn ?? parent?.warn ?? printWarning
        table = RegistrationTable(limit: registrationLimit)
        self.watch?.opened(self)
    }

    deinit {
        watch?.released(name: name, unclosed: isClosed ? [] : closeableLabels)
    }

    // MARK: Resolving

    /// The service that is registered for a type, here or in the nearest parent that has a registration.
    ///
    /// A lazy registration that is not built is built first, on the calling thread or by waiting for the thread that
    /// builds it. A weak registration whose object was released counts as absent, so the same call continues in the
    /// parent. A registration that another thread moves from one locator to another may be found in neither; `replace`
    /// leaves no such gap.
    ///
    /// ```swift
    /// let requests = try locator.resolve((any DataRequestService).self)
    /// let audit = try locator.resolve((any LogService).self, named: "audit")
    /// ```
    ///
    /// Cost: a few loads for each locator that is searched and one retain of the service. There is no lock, cast or
    /// allocation. A resolve inside a factory also records the dependency for ``graph()``, under a short lock.
    ///
    /// - Throws: ``ServiceLocatorError/Reason/missing``; ``ServiceLocatorError/Reason/closed`` if this locator, or the
    ///   one that has the registration, was closed; for lazy and transient registrations also
    ///   ``ServiceLocatorError/Reason/constructionFailed`` and ``ServiceLocatorError/Reason/cycle``;
    ///   ``ServiceLocatorError/Reason/asynchronous`` for an asynchronous registration; and
    ///   ``ServiceLocatorError/Reason/argumentMismatch`` for one that takes arguments.
    @inlinable
    public func resolve<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil
    ) throws(ServiceLocatorError) -> Service {
        // This locator keeps what the search finds alive until the service is copied.
        defer { withExtendedLifetime(self) {} }
        switch find(ObjectIdentifier(type), named: name) {
        case .service(let memory):
            // The key contains the type, so this is a service of the type. A cast would cost more than the search.
            return memory.assumingMemoryBound(to: type).pointee
        case .slot(let slot):
            guard let service = try provide(type, named: name, from: slot) else { throw missing(type, name: name) }
            return service
        }
    }

    /// The service that is registered for a type, or `nil` if neither this locator nor a parent has a registration.
    ///
    /// ```swift
    /// let metrics = try locator.resolveOptional((any MetricsService).self)
    /// ```
    ///
    /// Threads and cost are those of ``resolve(_:named:)``. Returning `nil` costs no more than returning a service.
    ///
    /// - Throws: What ``resolve(_:named:)`` throws for a registration that exists, also when its factory does not find
    ///   a service that it needs, and ``ServiceLocatorError/Reason/closed``.
    @inlinable
    public func resolveOptional<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil
    ) throws(ServiceLocatorError) -> Service? {
        // As in `resolve`.
        defer { withExtendedLifetime(self) {} }
        switch find(ObjectIdentifier(type), named: name) {
        case .service(let memory):
            return memory.assumingMemoryBound(to: type).pointee
        case .slot(let slot):
            return try provide(type, named: name, from: slot)
        }
    }

    /// The service that is registered for a type. Ends the process where ``resolve(_:named:)`` throws, with the same
    /// text.
    ///
    /// For services that the program cannot run without, in code that cannot throw.
    ///
    /// ```swift
    /// let requests = locator.require((any DataRequestService).self)
    /// ```
    ///
    /// Threads and cost are those of ``resolve(_:named:)``. The text is printed in every build configuration.
    public func require<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) -> Service {
        do throws(ServiceLocatorError) {
            return try resolve(type, named: name)
        } catch {
            error.endProcess("Required at \(RegistrationSite(fileID: fileID, line: line))")
        }
    }

    /// A new service from the factory of a transient registration, which receives the arguments.
    ///
    /// ```swift
    /// try locator.registerTransient((any Report).self) { (locator, title: String, pages: Int) in
    ///     try PDFReport(title: title, pages: pages, fonts: locator.resolve((any FontService).self))
    /// }
    /// let report = try locator.resolve((any Report).self, arguments: "Sales", 3)
    /// ```
    ///
    /// The types of the arguments are compared with the factory's at run time. Write literals with their type if the
    /// factory does not take `Int`, `Double` or `String`.
    ///
    /// - Throws: What ``resolve(_:named:)`` throws, and ``ServiceLocatorError/Reason/argumentMismatch`` if the factory
    ///   takes other arguments or the registration takes none.
    public func resolve<Service: Sendable, First, each More>(
        _ type: Service.Type, named name: String? = nil, arguments first: First, _ more: repeat each More
    ) throws(ServiceLocatorError) -> Service {
        let key = ServiceKey(type, name: name)
        return try withUnsafePointer(to: (first, repeat each more)) { pointer throws(ServiceLocatorError) in
            let arguments = ArgumentTuple(type: (First, repeat each More).self, memory: UnsafeRawPointer(pointer)) {
                ArgumentTuple.names(First.self, repeat (each More).self)
            }
            return try withUnsafeTemporaryAllocation(of: type, capacity: 1) { buffer throws(ServiceLocatorError) in
                let memory = buffer.baseAddress!
                guard try provide(key, from: nil, into: memory, arguments) else { throw missing(type, name: name) }
                return memory.move()
            }
        }
    }

    /// The service that is registered for a type, of any kind, waiting for asynchronous factories.
    ///
    /// The first resolve of an asynchronous registration starts its factory in a task. All resolves until its end wait
    /// for that task without blocking a thread. A waiting task that is cancelled stops waiting, and the factory
    /// continues for the others.
    ///
    /// ```swift
    /// let database = try await locator.resolveAsync((any Database).self)
    /// ```
    ///
    /// Cost: that of ``resolve(_:named:)`` once the service is built, and a short lock.
    ///
    /// - Throws: What ``resolve(_:named:)`` throws, and ``ServiceLocatorError/Reason/cancelled``. Work that a factory
    ///   has started counts as part of the factory when cycles are detected.
    public func resolveAsync<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil
    ) async throws(ServiceLocatorError) -> Service {
        let key = ServiceKey(type, name: name)
        var start: ServiceLocator? = self
        while let found = try start?.nearestSlot(for: key)?.takeUnretainedValue(),
            let owner = found.owner?.takeUnretainedValue()
        {
            var provision = Slot.Provision.moved
            var service: Service?
            if let slot = found as? AsyncSlot {
                if try await slot.prepare(owner: owner) { service = slot.service(of: type) }
            } else {
                service = try withUnsafeTemporaryAllocation(of: type, capacity: 1) {
                    buffer throws(ServiceLocatorError) in
                    let memory = buffer.baseAddress!
                    provision = try found.provide(into: memory, owner: owner, requester: self)
                    return provision == .provided ? memory.move() : nil
                }
            }
            if let service {
                owner.recordDependency(on: found)
                return service
            }
            switch provision {
            case .provided, .missing: start = nil
            case .moved: start = owner
            case .absent: start = owner.parent
            }
        }
        throw missing(type, name: name)
    }

    // MARK: Searching

    /// The search: the registration under `key` in the nearest locator that has one, from this locator upwards.
    ///
    /// It takes no lock, retains nothing and writes nothing; ``RegistrationTable`` explains why that is safe. The slot
    /// lives as long as this locator.
    ///
    /// - Throws: ``ServiceLocatorError/Reason/closed`` if the search comes to a closed locator without the
    ///   registration.
    func nearestSlot(for key: ServiceKey) throws(ServiceLocatorError) -> Unmanaged<Slot>? {
        var next: Unmanaged<ServiceLocator>? = .passUnretained(self)
        while let locator = next {
            if let slot = locator._withUnsafeGuaranteedRef({ $0.table.slot(for: key) }) { return slot }
            if locator._withUnsafeGuaranteedRef({ $0.isClosed }) { throw .closed(locator.takeUnretainedValue()) }
            next = locator._withUnsafeGuaranteedRef { $0.parent.map { .passUnretained($0) } }
        }
        return nil
    }

    /// The result of a search on behalf of a resolve.
    @usableFromInline
    enum Found {
        /// A stored service that needs only to be copied.
        case service(UnsafeMutableRawPointer)
        /// A slot that must provide its service, or `nil` if the search must be repeated to find out why there is none.
        case slot(Unmanaged<Slot>?)
    }

    /// Searches without building anything.
    ///
    /// Not inlined, so that the search can change without recompiling the modules that resolve.
    @usableFromInline @inline(never)
    func find(_ type: ObjectIdentifier, named name: String?) -> Found {
        // `provide` records resolves inside factories.
        guard !resolvesAreRecorded, let slot = try? nearestSlot(for: ServiceKey(type, name: name)) else {
            return .slot(nil)
        }
        if let memory = slot._withUnsafeGuaranteedRef({ $0.readyService }) { return .service(memory) }
        return .slot(slot)
    }

    /// The service of a type from the first slot on the search path that provides one; `nil` if there is none.
    @inlinable
    func provide<Service: Sendable>(
        _ type: Service.Type, named name: String?, from first: Unmanaged<Slot>?
    ) throws(ServiceLocatorError) -> Service? {
        try withUnsafeTemporaryAllocation(of: type, capacity: 1) { buffer throws(ServiceLocatorError) in
            let memory = buffer.baseAddress!
            return try provide(ObjectIdentifier(type), named: name, from: first, into: memory) ? memory.move() : nil
        }
    }

    /// Initializes the memory with the service of the first slot on the search path that provides one, beginning with
    /// `first` if it was found already. Returns `false` if no locator has the service.
    @usableFromInline @inline(never)
    func provide(
        _ type: ObjectIdentifier, named name: String?, from first: Unmanaged<Slot>?,
        into memory: UnsafeMutableRawPointer
    ) throws(ServiceLocatorError) -> Bool {
        try provide(ServiceKey(type, name: name), from: first, into: memory, nil)
    }

    private func provide(
        _ key: ServiceKey, from first: Unmanaged<Slot>?, into memory: UnsafeMutableRawPointer,
        _ arguments: ArgumentTuple?
    ) throws(ServiceLocatorError) -> Bool {
        var found = first
        if found == nil { found = try nearestSlot(for: key) }
        while let slot = found, let owner = slot._withUnsafeGuaranteedRef({ $0.owner }) {
            let provision = try slot.borrowed { slot throws(ServiceLocatorError) in
                try owner.borrowed { owner throws(ServiceLocatorError) in
                    try provide(from: slot, of: owner, into: memory, arguments)
                }
            }
            if provision == .provided { return true }
            if provision == .missing { return false }
            found = try owner.borrowed { owner throws(ServiceLocatorError) in
                try (provision == .moved ? owner : owner.parent)?.nearestSlot(for: key)
            }
        }
        return false
    }

    private func provide(
        from slot: Slot, of owner: ServiceLocator, into memory: UnsafeMutableRawPointer, _ arguments: ArgumentTuple?
    ) throws(ServiceLocatorError) -> Slot.Provision {
        let provision =
            if let arguments {
                try slot.provide(into: memory, owner: owner, requester: self, arguments: arguments)
            } else {
                try slot.provide(into: memory, owner: owner, requester: self)
            }
        if provision == .provided { owner.recordDependency(on: slot) }
        return provision
    }

    /// Records for graphs that the running factory resolved a registration of this locator.
    private func recordDependency(on slot: Slot) {
        guard tracedFactories.load(ordering: .relaxed) > 0 else { return }
        let building = BuildFrame.current?.pointee.slot.takeUnretainedValue() ?? AsyncAttempt.running?.slot.object
        guard let building, building !== slot else { return }
        building.record(Dependency(slot, in: name))
    }
}

extension Unmanaged {
    /// Calls a closure with the object without retaining it.
    @inline(__always)
    fileprivate func borrowed<Result, Failure: Error>(
        _ body: (Instance) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result = _withUnsafeGuaranteedRef { instance in
            Swift.Result { () throws(Failure) in try body(instance) }
        }
        return try result.get()
    }
}
