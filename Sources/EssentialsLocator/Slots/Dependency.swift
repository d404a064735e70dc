/// A registration that another one's factory resolved. Holds no reference: what is registered may go.
struct Dependency: Sendable {
    let id: UInt64
    /// Type and name, of which a label is made only when somebody looks: that takes longer than building a service.
    let type: Any.Type
    let name: String?
    let kind: ServiceGraph.Kind
    let site: RegistrationSite
    /// The name of the locator that has it.
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

/// What a factory resolved, in the order of first use.
struct Dependencies: Sendable {
    /// How many are kept for one registration.
    static let limit = 256

    private(set) var known: [Dependency] = []
    /// Whether there were more than are kept.
    private(set) var isCut = false

    mutating func add(_ dependency: Dependency) {
        guard !isCut, !known.contains(where: { $0.id == dependency.id }) else { return }
        if known.count < Self.limit { known.append(dependency) } else { isCut = true }
    }
}
