import Synchronization

/// One registration in one locator, whatever its service's type.
///
/// A slot is never changed into another registration: replacing a registration puts a new slot in its place. So an
/// attempt that began on the old one ends on the old one and cannot overwrite the new.
///
/// `@unchecked Sendable`: the stored properties are constants, all of `Sendable` types but `storage`. What that points to
/// is the business of the one subclass, ``ServiceSlot``, which argues for it.
class Slot: @unchecked Sendable {
    /// How far the registration has come.
    enum State: UInt8, AtomicRepresentable {
        /// Lazy, and not built yet.
        case pending
        /// The service is there and stays as it is until the slot dies.
        case ready
    }

    let key: ServiceKey
    let site: RegistrationSite
    /// Goes from `pending` to `ready` once, and never back.
    let state: Atomic<State>
    /// Holds a service of the key's type once the slot is ready, and no value before.
    ///
    /// A pointer, because a stored `var` would be checked for exclusive access at each read; here and untyped, so that
    /// a search need not be generic.
    let storage: UnsafeMutableRawPointer

    init(key: ServiceKey, site: RegistrationSite, state: State, storage: UnsafeMutableRawPointer) {
        self.key = key
        self.site = site
        self.state = Atomic(state)
        self.storage = storage
    }

    /// Acquires, so that whoever sees `ready` sees the service that was stored before it.
    final var isReady: Bool { state.load(ordering: .acquiring) == .ready }

    /// The registered type, with its module.
    var typeName: String { "" }

    /// Whether the service is built and could serve as `type`. Casts; for error texts only.
    func holds<Other>(_ type: Other.Type) -> Bool { false }

    /// Forgets a factory that has not run yet. Call it without a lock: what the factory captured is released here.
    func withdraw() {}

    /// The registered type and name as errors show them.
    final var label: String { Self.label(typeName, name: key.name) }

    static func label(_ typeName: String, name: String?) -> String {
        guard let name else { return typeName }
        return "\(typeName) named \"\(name)\""
    }
}
