import EssentialsLocator

/// The parts of a report that change as a whole.
struct InspectorState: Encodable, Equatable {
    private var health: InspectorReport.Health?
    private var stores: [InspectorReport.Store]?
    private var locator: InspectorReport.Drawing?
    private var connections: InspectorReport.Connections?
    private var limits: [InspectorReport.Limit]?
    private var resources: [InspectorReport.Resource]?
    private var caches: [InspectorReport.Cache]?

    init() {}

    init(of locator: ServiceLocator?, _ stores: [InspectorReport.Store]?) async {
        self.stores = stores
        guard let locator else { return }
        health = InspectorReport.Health(await locator.health())
        self.locator = InspectorReport.Drawing(svg: locator.graph().svg)
        let sample = await ServiceSample.take(of: locator)
        (connections, limits) = (sample.connections, sample.limits)
        (resources, caches) = (sample.resources, sample.caches)
    }

    /// The parts that are not those of an earlier state; `nil` if all are.
    func difference(from earlier: InspectorState) -> InspectorState? {
        guard self != earlier else { return nil }
        var parts = self
        if health == earlier.health { parts.health = nil }
        if stores == earlier.stores { parts.stores = nil }
        if locator == earlier.locator { parts.locator = nil }
        if connections == earlier.connections { parts.connections = nil }
        if limits == earlier.limits { parts.limits = nil }
        if resources == earlier.resources { parts.resources = nil }
        if caches == earlier.caches { parts.caches = nil }
        return parts
    }
}
