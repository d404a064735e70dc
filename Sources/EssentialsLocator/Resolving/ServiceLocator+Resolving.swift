import Synchronization

extension ServiceLocator {
    /// The service registered for a type, here or in the nearest parent that has one.
    ///
    /// An unbuilt lazy registration is built first, on the calling thread or by waiting for the thread that does. A weak
    /// registration whose object is gone counts as none, so the same call goes on to the parent.
    /// A registration that is being moved from one locator to another may be found in neither; `replace` has no gap.
    ///
    /// ```swift
    /// let requests = try locator.resolve((any DataRequestService).self)
    /// let audit = try locator.resolve((any LogService).self, named: "audit")
    /// ```
    ///
    /// Cost: a few loads per locator on the way up, and one retain of the service; no lock, no cast, no allocation. While
    /// a factory runs anywhere in the process, it takes a look more whether this thread or task is part of one; there,
    /// what is resolved is noted for ``graph()``, under a short lock.
    ///
    /// - Throws: ``ServiceLocatorError/Reason/missing``; ``ServiceLocatorError/Reason/closed`` when this locator, or the
    ///   one that has the registration, was closed; for lazy and transient registrations also
    ///   ``ServiceLocatorError/Reason/constructionFailed`` and ``ServiceLocatorError/Reason/cycle``;
    ///   ``ServiceLocatorError/Reason/asynchronous`` for an asynchronous one and
    ///   ``ServiceLocatorError/Reason/argumentMismatch`` for one that takes arguments.
    @inlinable
    public func resolve<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil
    ) throws(ServiceLocatorError) -> Service {
        // A table lives as long as its locator, and this locator until the service was copied.
        defer { withExtendedLifetime(self) {} }
        let found = look(for: type, name: name)
        if let storage = found.storage {
            return storage.assumingMemoryBound(to: type).pointee
        }
        if let slot = found.weakSlot, let object = slot._withUnsafeGuaranteedRef({ $0.object }) {
            return slot._withUnsafeGuaranteedRef { $0.service(of: type, from: object) }
        }
        return try resolveElse(type, name: name, found)
    }

    /// The service registered for a type, or nil if there is no registration here or in a parent.
    ///
    /// ```swift
    /// let metrics = try locator.resolveOptional((any MetricsService).self)
    /// ```
    ///
    /// Threads and cost are those of ``resolve(_:named:)``; nil costs no more than a service.
    ///
    /// - Throws: What went wrong with a registration that is there, also when its factory missed a service, and
    ///   ``ServiceLocatorError/Reason/closed``.
    @inlinable
    public func resolveOptional<Service: Sendable>(
        _ type: Service.Type, named name: String? = nil
    ) throws(ServiceLocatorError) -> Service? {
        // As in `resolve`.
        defer { withExtendedLifetime(self) {} }
        let found = look(for: type, name: name)
        if let storage = found.storage {
            return storage.assumingMemoryBound(to: type).pointee
        }
        if let slot = found.weakSlot, let object = slot._withUnsafeGuaranteedRef({ $0.object }) {
            return slot._withUnsafeGuaranteedRef { $0.service(of: type, from: object) }
        }
        return try find(type, name: name, found)
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
            error.endProcess("Required at \(RegistrationSite(fileID: fileID, line: line))")
        }
    }

    /// A new service from a transient registration's factory, which receives the arguments.
    ///
    /// ```swift
    /// try locator.registerTransient((any Report).self) { (locator, title: String, pages: Int) in
    ///     try PDFReport(title: title, pages: pages, fonts: locator.resolve((any FontService).self))
    /// }
    /// let report = try locator.resolve((any Report).self, arguments: "Sales", 3)
    /// ```
    ///
    /// The arguments' types are compared with the factory's when this is called; write literals with their type where
    /// the factory does not take `Int`, `Double` or `String`.
    ///
    /// - Throws: What ``resolve(_:named:)`` throws; ``ServiceLocatorError/Reason/argumentMismatch`` when the factory
    ///   takes others, or the registration none.
    public func resolve<Service: Sendable, First, each More>(
        _ type: Service.Type, named name: String? = nil, arguments first: First, _ more: repeat each More
    ) throws(ServiceLocatorError) -> Service {
        let key = ServiceKey(type, name: name)
        let service = try withUnsafePointer(to: (first, repeat each more)) { pointer throws(ServiceLocatorError) in
            let arguments = ArgumentTuple(type: (First, repeat each More).self, memory: UnsafeRawPointer(pointer)) {
                ArgumentTuple.names(First.self, repeat (each More).self)
            }
            return try ServiceMemory.fill(type) { memory throws(ServiceLocatorError) in
                try fill(memory, key: key, arguments: arguments, requester: self)
            }
        }
        guard let service else { throw missing(type, name: name) }
        return service
    }

    // MARK: Without a lock

    /// What is found under a key in the nearest locator that has it.
    ///
    /// Untyped, because most of the time of a generic search would go into looking up metadata. The caller binds storage
    /// to the type that it made the key from. That needs no check: only the registering methods make slots, and they
    /// make memory of `Service` under a key of `Service`. A checked cast would cost more than the whole search.
    ///
    /// What is found lives as long as its slot, the slot as long as its table, and the table as long as this locator.
    ///
    /// Inlined into the caller's module, with the functions that resolve, because the caller's compiler knows how to copy
    /// its service; what the search looks like stays here.
    @inlinable @inline(__always)
    func look<Service>(for type: Service.Type, name: String?) -> Found {
        // Most registrations have no name: their search handles one word and nothing that is counted.
        guard let name else { return look(forWord: UInt(bitPattern: ObjectIdentifier(type))) }
        return look(for: ObjectIdentifier(type), name: name)
    }

    @usableFromInline @inline(never)
    func look(for type: ObjectIdentifier, name: String) -> Found {
        let key = ServiceKey(type, name: name)
        return Found(RegistrationTable.nearestSlot(for: key, from: table.root))
    }

    @usableFromInline @inline(never)
    func look(forWord word: UInt) -> Found {
        // In a factory slots are asked, and noted as what it needs.
        guard tracedFactories.load(ordering: .relaxed) == 0 else { return lookTraced(forWord: word) }
        return Found(word: table.nearest(forWord: word))
    }

    @inline(never)
    private func lookTraced(forWord word: UInt) -> Found {
        guard resolvesAreNoted else { return Found(word: table.nearest(forWord: word)) }
        return Found(RegistrationTable.nearestSlot(for: ServiceKey(word: word), from: table.root))
    }

    // MARK: Asking the slot

    /// Apart from `resolve`, so that a resolve that finds its service at once does not prepare for an optional one.
    @inlinable @inline(never)
    func resolveElse<Service: Sendable>(
        _ type: Service.Type, name: String?, _ found: Found
    ) throws(ServiceLocatorError) -> Service {
        if let slot = found.transientSlot {
            do {
                return try slot._withUnsafeGuaranteedRef { try $0.service(of: type, for: self) }
            } catch {
                throw slot.takeUnretainedValue().failure(error, for: self)
            }
        }
        if let service = try find(type, name: name, found) { return service }
        throw missing(type, name: name)
    }

    /// Asks the slot that was found, and then searches on. Nil if no locator has the service.
    @inlinable @inline(__always)
    func find<Service: Sendable>(
        _ type: Service.Type, name: String?, _ found: Found
    ) throws(ServiceLocatorError) -> Service? {
        try ServiceMemory.fill(type) { memory throws(ServiceLocatorError) in
            try fill(memory, type: ObjectIdentifier(type), name: name, found)
        }
    }

    /// Fills memory for a service of `type`; false if no locator has it.
    @usableFromInline @inline(never)
    func fill(
        _ memory: UnsafeMutableRawPointer, type: ObjectIdentifier, name: String?, _ found: Found
    ) throws(ServiceLocatorError) -> Bool {
        if let slot = found.slot, try ask(slot, memory) { return true }
        return try fill(memory, key: ServiceKey(type, name: name), arguments: nil, requester: self)
    }

    /// Asks the slot that a search without a lock has found; false leaves the search to one that can go on.
    ///
    /// Neither the slot nor its owner is retained: this locator keeps its parents, and each of them its slots.
    @inline(__always)
    private func ask(_ found: Unmanaged<Slot>, _ memory: UnsafeMutableRawPointer) throws(ServiceLocatorError) -> Bool {
        guard !resolvesAreNoted else { return false }
        let result = found._withUnsafeGuaranteedRef { slot -> Result<Bool, ServiceLocatorError> in
            guard let owner = slot.owner else { return .success(false) }
            return owner._withUnsafeGuaranteedRef { owner in
                do throws(ServiceLocatorError) {
                    return .success(try slot.provide(into: memory, owner: owner, requester: self) == .provided)
                } catch {
                    return .failure(error)
                }
            }
        }
        return try result.get()
    }

    /// Searches, asking the slots that are found to put the service into `memory`, which is for one of the key's type.
    ///
    /// Goes up by calling itself, because a variable would retain each locator on the way.
    private func fill(
        _ memory: UnsafeMutableRawPointer, key: ServiceKey, arguments: ArgumentTuple?, requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Bool {
        while let slot = table.slot(for: key) {
            let provision = try ask(slot, memory, arguments: arguments, requester: requester)
            switch provision {
            case .provided: return true
            case .missing: return false
            // The table has changed: look again in the same locator.
            case .moved: continue
            case .absent: break
            }
            guard let parent else { return false }
            return try parent.fill(memory, key: key, arguments: arguments, requester: requester)
        }
        if isClosed { throw .closed(self) }
        guard let parent else { return false }
        return try parent.fill(memory, key: key, arguments: arguments, requester: requester)
    }

    /// Asks a slot of this locator, which lives as long as the locator does.
    @inline(__always)
    private func ask(
        _ found: Unmanaged<Slot>, _ memory: UnsafeMutableRawPointer, arguments: ArgumentTuple?,
        requester: ServiceLocator
    ) throws(ServiceLocatorError) -> Provision {
        let slot = found.takeUnretainedValue()
        let provision =
            if let arguments {
                try slot.provide(into: memory, owner: self, requester: requester, arguments: arguments)
            } else {
                try slot.provide(into: memory, owner: self, requester: requester)
            }
        if provision == .provided { noteDependency(on: slot) }
        return provision
    }

    /// Notes what the factory that runs here resolves, for graphs.
    func noteDependency(on slot: Slot) {
        guard tracedFactories.load(ordering: .relaxed) > 0 else { return }
        let building = BuildFrame.current?.pointee.slot.takeUnretainedValue() ?? AsyncAttempt.running?.slot.object
        guard let building, building !== slot else { return }
        building.note(Dependency(slot, in: name))
    }
}
