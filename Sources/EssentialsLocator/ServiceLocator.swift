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
/// **Threads.** Every method may be called from any thread. Resolving a built service takes no lock. The first resolve
/// of a lazy registration runs its factory once, on the calling thread; threads that come meanwhile block until it is
/// done, so avoid first resolves inside Swift's cooperative thread pool.
///
/// **Memory.** A child retains its parent; a parent does not know its children. A registered service is retained until
/// its locator goes, also after it was replaced or unregistered, because threads that resolve without a lock may just
/// be looking at it. A service that retains its own locator keeps both alive for ever.
public final class ServiceLocator: Sendable {
    /// What errors call this locator.
    public let name: String
    /// Who is asked for what is not registered here.
    public let parent: ServiceLocator?
    /// How many registrations this locator accepts in its life, replaced and unregistered ones included.
    public let registrationLimit: Int

    let table: RegistrationTable

    /// Makes a locator without registrations.
    ///
    /// - Parameters:
    ///   - name: What errors call it.
    ///   - parent: Who is asked for what is not registered here; nil makes a root. It is retained.
    ///   - registrationLimit: How many registrations it accepts in its life. One more is
    ///     ``ServiceLocatorError/Reason/tooManyRegistrations``.
    public init(name: String, parent: ServiceLocator? = nil, registrationLimit: Int = 65_536) {
        self.name = name
        self.parent = parent
        self.registrationLimit = registrationLimit
        self.table = RegistrationTable(limit: registrationLimit)
    }
}

// MARK: - Resolving

extension ServiceLocator {
    /// The service registered for a type, here or in the nearest parent that has one.
    ///
    /// An unbuilt lazy registration is built first, on the calling thread or by waiting for the thread that does.
    /// A registration that is being moved from one locator to another may be found in neither; `replace` has no gap.
    ///
    /// ```swift
    /// let requests = try locator.resolve((any DataRequestService).self)
    /// let audit = try locator.resolve((any LogService).self, named: "audit")
    /// ```
    ///
    /// Cost: a few loads per locator on the way up, and one retain of the service; no lock, no cast.
    ///
    /// - Throws: ``ServiceLocatorError/Reason/missing``; for lazy registrations also
    ///   ``ServiceLocatorError/Reason/constructionFailed`` and ``ServiceLocatorError/Reason/cycle``.
    public func resolve<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil
    ) throws(ServiceLocatorError) -> Service {
        let key = ServiceKey(type, name: name)
        // A table lives as long as its locator, and this locator until the service was copied.
        defer { withExtendedLifetime(self) {} }
        if let storage = builtStorage(key) {
            return storage.assumingMemoryBound(to: type).pointee
        }
        return try resolveUnbuilt(key)
    }

    /// The service registered for a type, or nil if there is no registration here or in a parent.
    ///
    /// ```swift
    /// let metrics = try locator.resolveOptional((any MetricsService).self)
    /// ```
    ///
    /// Threads and cost are those of ``resolve(_:named:)``; nil costs no more than a service.
    ///
    /// - Throws: What went wrong with a registration that is there: ``ServiceLocatorError/Reason/constructionFailed``,
    ///   also when its factory missed a service, and ``ServiceLocatorError/Reason/cycle``.
    public func resolveOptional<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil
    ) throws(ServiceLocatorError) -> Service? {
        let key = ServiceKey(type, name: name)
        // As in `resolve`.
        defer { withExtendedLifetime(self) {} }
        if let storage = builtStorage(key) {
            return storage.assumingMemoryBound(to: type).pointee
        }
        return try findUnbuilt(key)
    }

    /// The service registered for a type; ends the process where ``resolve(_:named:)`` throws, with the same text.
    ///
    /// For services without which the program is wrong, in code that cannot throw.
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
            fatalError("\(error) Required at \(RegistrationSite(fileID: fileID, line: line)).")
        }
    }

    /// The storage of the built service in the nearest locator that has the key; nil if none has, or it is not built.
    ///
    /// Untyped, because most of the time of a generic search would go into looking up metadata. The caller binds it to
    /// the type that it made the key from. That needs no check: only the registering methods make slots, and they make
    /// a `ServiceSlot<Service>` under a key of `Service`. A checked cast would cost more than the whole search.
    ///
    /// What is returned lives as long as its slot, the slot as long as its table, and the table as long as this locator.
    private func builtStorage(_ key: borrowing ServiceKey) -> UnsafeRawPointer? {
        guard let found = table.slot(for: key) else { return parent?.builtStorage(key) }
        // The table owns the slot and the caller keeps the locator, so a retain would be wasted.
        return found._withUnsafeGuaranteedRef { $0.isReady ? UnsafeRawPointer($0.storage) : nil }
    }

    /// Apart from `resolve`, so that a resolve that finds its service at once does not prepare for an optional one.
    @inline(never)
    private func resolveUnbuilt<Service: Sendable>(_ key: ServiceKey) throws(ServiceLocatorError) -> Service {
        if let service: Service = try findUnbuilt(key) { return service }
        throw missing(Service.self, key: key)
    }

    /// Searches again, this time building what is not built. Nil if no locator has the key.
    @inline(never)
    private func findUnbuilt<Service: Sendable>(_ key: ServiceKey) throws(ServiceLocatorError) -> Service? {
        var locator = self
        while true {
            if let found = locator.table.slot(for: key) {
                // Right for the reason that `builtStorage` gives.
                let slot = unsafeDowncast(found.takeUnretainedValue(), to: ServiceSlot<Service>.self)
                if let service = slot.service { return service }
                // Nil says that the registration went away before it could be built. The table has changed then: look
                // again in the same locator.
                if let service = try locator.construct(slot) { return service }
            } else {
                guard let parent = locator.parent else { return nil }
                locator = parent
            }
        }
    }
}
