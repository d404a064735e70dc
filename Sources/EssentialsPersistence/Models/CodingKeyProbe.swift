/// Finds the coding keys of a model without a value of the model.
///
/// The model is decoded by a decoder without values. It requests a container, which reveals the type of its keys. A
/// name is a key if that type can be created from it. This also finds keys that the compiler synthesized, and needs no
/// invented values.
package struct CodingKeyProbe: Sendable {
    /// A name that is not a key, unless every name is a key.
    private static let noKey = "essentials \u{1}"

    private let types: [any CodingKey.Type]
    private let asked: Set<String>

    /// Decodes a model from nothing, which fails.
    package init<Model: Decodable>(_ type: Model.Type) {
        let record = Record()
        _ = try? Model(from: Probing(record: record))
        types = record.types
        asked = record.asked
    }

    /// Whether a name is a coding key; `nil` if that is unknown, for example because keys can have any name.
    package func has(_ name: String) -> Bool? {
        if asked.contains(name) { return true }
        let closed = types.filter { $0.init(stringValue: Self.noKey) == nil }
        if closed.contains(where: { $0.init(stringValue: name) != nil }) { return true }
        return types.isEmpty || closed.count < types.count ? nil : false
    }

    /// Records the key types and the keys that the model requested. It never leaves the initializer.
    fileprivate final class Record {
        var types: [any CodingKey.Type] = []
        var asked: Set<String> = []
    }
}

/// A decoder without values.
private struct Probing: Decoder {
    let record: CodingKeyProbe.Record
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    static var missing: DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: "There are no values."))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        record.types.append(type)
        return KeyedDecodingContainer(ProbingContainer<Key>(record: record))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.missing }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Self.missing }
}

/// A container in which every optional value is `nil` and all other values are missing.
private struct ProbingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let record: CodingKeyProbe.Record
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool {
        record.asked.insert(key.stringValue)
        return false
    }

    func decodeNil(forKey key: Key) -> Bool { !contains(key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        throw missing(key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw missing(key) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw missing(key) }
    func superDecoder() throws -> any Decoder { throw Probing.missing }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw missing(key) }

    private func missing(_ key: Key) -> DecodingError {
        record.asked.insert(key.stringValue)
        return Probing.missing
    }
}
