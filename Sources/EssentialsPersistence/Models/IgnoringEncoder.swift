/// An encoder that discards lists and dictionaries.
protocol SingleValueEncoder: Encoder {}

extension SingleValueEncoder {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(IgnoringKeyedContainer())
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { IgnoringContainer() }
}

/// An encoder that discards everything, for values that are encoded in another way or refused.
struct IgnoringEncoder: SingleValueEncoder {
    func singleValueContainer() -> any SingleValueEncodingContainer { IgnoringContainer() }
}

struct IgnoringKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil(forKey key: Key) {}
    mutating func encode(_ value: some Encodable, forKey key: Key) {}

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { KeyedEncodingContainer(IgnoringKeyedContainer<Nested>()) }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { IgnoringContainer() }
    mutating func superEncoder() -> any Encoder { IgnoringEncoder() }
    mutating func superEncoder(forKey key: Key) -> any Encoder { IgnoringEncoder() }
}

struct IgnoringContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int { 0 }

    mutating func encodeNil() {}
    mutating func encode(_ value: some Encodable) {}

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> { KeyedEncodingContainer(IgnoringKeyedContainer<Nested>()) }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { IgnoringContainer() }
    mutating func superEncoder() -> any Encoder { IgnoringEncoder() }
}
