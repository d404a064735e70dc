import EssentialsLocator

/// The parts of a report that change as a whole.
struct InspectorState: Sendable, Equatable {
    var health: InspectorReport.Health?
    var stores: [InspectorReport.Store]?
    var locator: InspectorReport.Drawing?
    var connections: InspectorReport.Connections?
    var limits: [InspectorReport.Limit]?
    var resources: [InspectorReport.Resource]?
    var caches: [InspectorReport.Cache]?

    init() {}

    /// The state at this moment.
    ///
    /// - Parameter earlier: Its parts stand for those of services that do not answer in time.
    init(
        of locator: ServiceLocator?, _ stores: [InspectorReport.Store]?,
        after earlier: InspectorState = InspectorState()
    ) async {
        if let locator {
            async let report = locator.health()
            self = await Self.asked(locator) ?? earlier
            health = InspectorReport.Health(await report)
            self.locator = InspectorReport.Drawing(svg: locator.graph().svg)
        }
        self.stores = stores
    }

    /// The parts that are not those of an earlier state; `nil` if all are.
    func difference(from earlier: InspectorState) -> Difference? {
        self == earlier ? nil : Difference(state: self, earlier: earlier)
    }

    /// The parts of a state that have changed, as JSON. A part that has disappeared is `null`.
    struct Difference: Encodable {
        fileprivate let state: InspectorState
        fileprivate let earlier: InspectorState

        private enum Key: CodingKey {
            case health, stores, locator, connections, limits, resources, caches
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            func add(_ part: KeyPath<InspectorState, (some Encodable & Equatable)?>, _ key: Key) throws {
                let value = state[keyPath: part]
                if value != earlier[keyPath: part] { try container.encode(value, forKey: key) }
            }
            try add(\.health, .health)
            try add(\.stores, .stores)
            try add(\.locator, .locator)
            try add(\.connections, .connections)
            try add(\.limits, .limits)
            try add(\.resources, .resources)
            try add(\.caches, .caches)
        }
    }
}

extension InspectorReport {
    /// Takes the parts that change as a whole.
    mutating func take(_ state: InspectorState) {
        (health, stores, locator) = (state.health, state.stores, state.locator)
        (connections, limits) = (state.connections, state.limits)
        (resources, caches) = (state.resources, state.caches)
    }
}
