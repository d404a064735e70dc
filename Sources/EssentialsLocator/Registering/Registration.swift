/// What was registered in one call, to be taken away again with ``ServiceLocator/unregister(_:)-(Registration)``.
///
/// A value that retains neither the service nor the locator. Two are equal when they are of the same call.
///
/// ```swift
/// let registration = try locator.register(probe, as: (any Probe).self)
/// locator.unregister(registration)
/// ```
public struct Registration: Sendable, Hashable {
    struct Entry: Sendable, Hashable {
        let key: ServiceKey
        let id: UInt64
    }

    /// Apart from the others, which most registrations do not have, so that these allocate nothing.
    private let first: Entry
    private let others: [Entry]

    init(_ first: Slot, _ others: [Slot] = []) {
        self.first = Entry(key: first.key, id: first.id)
        self.others = others.map { Entry(key: $0.key, id: $0.id) }
    }

    var entries: [Entry] { [first] + others }
}
