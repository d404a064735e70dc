/// A registration that a factory resolved. It retains nothing, so that the registration can be released.
struct Dependency: Sendable {
    let id: UInt64
    /// The registered type. A label is formatted only on demand, because that takes longer than building a service.
    let type: Any.Type
    let name: String?
    let kind: ServiceGraph.Kind
    let site: RegistrationSite
    /// The name of the locator that has the registration.
    let locator: String

    init(_ slot: Slot, in locator: String) {
        id = slot.id
        type = slot.type
        name = slot.key.name
        kind = slot.kind
        site = slot.site
        self.locator = locator
    }
}

/// The registrations that a factory resolved, in the order of first use.
struct Dependencies: Sendable {
    /// The maximum for one registration.
    static let limit = 256

    private(set) var known: [Dependency] = []
    /// Whether some were dropped because of the limit.
    private(set) var isCut = false

    mutating func add(_ dependency: Dependency) {
        guard !isCut, !known.contains(where: { $0.id == dependency.id }) else { return }
        if known.count < Self.limit { known.append(dependency) } else { isCut = true }
    }
}
