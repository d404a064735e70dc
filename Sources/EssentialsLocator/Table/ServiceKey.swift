/// What a registration is found by: the registered type and an optional name.
///
/// Types are compared by their metadata, not by their spelling. A protocol that is linked into a process twice is two
/// types, and each has its own keys.
struct ServiceKey: Sendable, Hashable {
    let type: ObjectIdentifier
    /// `nil` for a registration without a name.
    let name: String?
    /// A digest of the key that is never zero. Without a name it is the type's metadata address, which identifies the
    /// key; with a name the lowest bit, which is zero in every address, is set, and different keys may share a word.
    let word: UInt

    init(_ type: ObjectIdentifier, name: String?) {
        self.type = type
        self.name = name
        let address = UInt(bitPattern: type)
        word = name.map { (address ^ UInt(bitPattern: $0.hashValue)) | 1 } ?? address
    }

    init<Service>(_ type: Service.Type, name: String?) {
        self.init(ObjectIdentifier(type), name: name)
    }

    /// Whether a key with the same word is the same key.
    func isSame(as other: ServiceKey) -> Bool {
        name == nil || self == other
    }
}
