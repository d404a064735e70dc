import Synchronization

extension ServiceLocator {
    /// Builds or checks every registration of this locator and returns everything that is wrong; empty means that all is
    /// well.
    ///
    /// Lazy and asynchronous services are built and stay; transient ones without arguments are built once and dropped;
    /// those with arguments are passed over, since only a caller has the arguments; objects of weak registrations must be
    /// there. Dependencies in parents are built on the way, but what is registered in a parent alone is not looked at:
    /// validate each locator where it is filled.
    ///
    /// ```swift
    /// let failures = await locator.validate()
    /// for failure in failures { print(failure) }
    /// ```
    ///
    /// One after the other, in order of registration; factories for the main actor run on it. A registration that fails
    /// because of another one is reported too: its error names the other as what it is built from.
    public func validate() async -> [ServiceLocatorError] {
        guard !isClosed else { return [.closed(self)] }
        var failures: [ServiceLocatorError] = []
        for slot in table.liveSlots() {
            if let failure = await slot.check(owner: self) { failures.append(failure) }
        }
        return failures
    }

    /// The registrations, services and dependencies of this locator and its parents, as they are at this moment.
    ///
    /// Takes a lock for each locator, and loads every weak reference. For logs, tools and tests.
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
        // What was removed or replaced since, or lives in a locator beside this chain.
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
    /// The locator's name and its own registrations, a line each.
    public var description: String {
        var graph = graph()
        graph.keepFirstLocator()
        return graph.text
    }

    /// The same of this locator and all its parents, nearest first.
    public var chainDescription: String {
        var graph = graph()
        graph.edges = []
        graph.elsewhere = []
        return graph.text
    }
}
