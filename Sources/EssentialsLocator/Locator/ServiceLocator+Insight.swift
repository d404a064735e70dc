import EssentialsTools

extension ServiceLocator {
    /// Builds or checks every registration of this locator and returns all errors.
    ///
    /// Lazy and asynchronous services are built and kept. Transient services without arguments are built once and
    /// discarded. Transient services with arguments are skipped, because only a caller has the arguments. The objects
    /// of weak registrations must be alive. Dependencies in parents are built if a service needs them, but other
    /// registrations of parents are not checked: validate each locator after its services were registered.
    ///
    /// ```swift
    /// let failures = await locator.validate()
    /// for failure in failures { print(failure) }
    /// ```
    ///
    /// Registrations are checked one after the other, in order of registration. Factories for the main actor run on it.
    /// A registration that fails because of another one is reported too, with an error that names the other one.
    public func validate() async -> [ServiceLocatorError] {
        guard !isClosed else { return [.closed(self)] }
        var failures: [ServiceLocatorError] = []
        for slot in table.liveSlots() {
            if let failure = await slot.check(owner: self) { failures.append(failure) }
        }
        return failures
    }

    /// The registrations, services and dependencies of this locator and its parents at this moment.
    ///
    /// For logs, tools and tests. Takes a lock for each locator and loads every weak reference.
    public func graph() -> ServiceGraph {
        var locators: [ServiceGraph.Locator] = []
        var edges: [ServiceGraph.Edge] = []
        var known: Set<UInt64> = []
        var needed: [Dependency] = []
        var next: ServiceLocator? = self
        while let locator = next {
            let slots = locator.table.liveSlots()
            locators.append(
                ServiceGraph.Locator(
                    name: locator.name, isClosed: locator.isClosed,
                    registrations: slots.map { Self.describe($0, isClosed: locator.isClosed) }))
            for slot in slots {
                known.insert(slot.id)
                let dependencies = slot.dependencies.withLock { $0 }
                edges += dependencies.known.map { ServiceGraph.Edge(from: slot.id, to: $0.id) }
                needed += dependencies.known
            }
            next = locator.parent
        }
        // Dependencies that were removed or replaced since, or that belong to a locator outside this chain.
        var others: [ServiceGraph.Registration] = []
        for dependency in needed where known.insert(dependency.id).inserted {
            others.append(
                ServiceGraph.Registration(
                    id: dependency.id, type: Slot.typeName(dependency.type), name: dependency.name,
                    kind: dependency.kind, state: .elsewhere, site: dependency.site.description, hasMoreEdges: false,
                    locator: dependency.locator))
        }
        return ServiceGraph(locators: locators, elsewhere: others, edges: edges)
    }

    private static func describe(_ slot: Slot, isClosed: Bool) -> ServiceGraph.Registration {
        ServiceGraph.Registration(
            id: slot.id, type: slot.typeName, name: slot.key.name, kind: slot.kind,
            state: isClosed ? .closed : slot.graphState, site: slot.site.description,
            hasMoreEdges: slot.dependencies.withLock { $0.isCut }, locator: nil)
    }
}

extension ServiceLocator: CustomStringConvertible {
    /// The locator's name and its own registrations, one on each line.
    public var description: String {
        var graph = graph()
        graph.keepFirstLocator()
        return graph.text
    }

    /// The names and registrations of this locator and all its parents, nearest first.
    public var chainDescription: String {
        var graph = graph()
        graph.edges = []
        graph.elsewhere = []
        return graph.text
    }
}

// MARK: - Missing services

extension ServiceLocator {
    /// The error for a type without a registration, including similar registrations. Locks and casts.
    @usableFromInline @inline(never)
    func missing<Service: Sendable>(_ type: Service.Type, name: String?) -> ServiceLocatorError {
        let key = ServiceKey(type, name: name)
        var searched: [String] = []
        var nearMisses: [String] = []
        var hasGone = false
        var next: ServiceLocator? = self
        while let locator = next {
            searched.append(locator.name)
            nearMisses += locator.nearMisses(type, key: key)
            if let slot = locator.table.slot(for: key)?.takeUnretainedValue(), slot.isGone {
                hasGone = true
                if slot.provisionWhenGone == .missing { break }
            }
            next = locator.parent
        }
        return .missing(
            typeName: Slot.typeName(type), name: key.name, searched: searched, nearMisses: nearMisses,
            hasGone: hasGone)
    }

    private func nearMisses<Service: Sendable>(_ type: Service.Type, key: ServiceKey) -> [String] {
        let typeName = Slot.typeName(type)
        return table.liveSlots().compactMap { slot in
            let registered = "\(slot.label) in \"\(name)\" (\(slot.site))"
            if slot.key == key, slot.isGone {
                return "\(registered), whose object is gone: it was registered weakly"
            }
            if slot.key.type == key.type {
                return registered
            }
            if slot.typeName == Slot.typeName(MainActorBox<Service>.self) {
                return "\(registered): use resolveOnMainActor"
            }
            if slot.typeName == typeName {
                return "\(registered), which is another type of the same name: its module is linked twice"
            }
            if "\(slot.typeName) (main actor)" == typeName {
                return "\(registered): use resolve"
            }
            if let service = slot.stored(), service is Service {
                return "\(registered), whose service is also \(typeName)"
            }
            return nil
        }
    }
}
