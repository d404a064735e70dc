import FoundationEssentials

/// A value whose encoding does not depend on the order in which its sets and dictionaries hold their elements.
///
/// A `Set`, and a `Dictionary` whose keys are no coding keys, encode themselves as lists in an order that differs between
/// equal values. Here they are sorted by the encodings of their elements, at every depth. Everything else is encoded by the
/// rules of the encoder.
///
/// ```swift
/// let data = try encoder.encode(OrderedEncoding(model))
/// ```
///
/// A type that hands its encoder to a set of its own has the order of that set.
struct OrderedEncoding<Value: Encodable>: Encodable {
    private let value: Value

    init(_ value: Value) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        if isEncodedWhole(Value.self) {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        } else if let ordered = value as? any OrderedEncodable {
            try ordered.encodeInOrder(to: encoder)
        } else {
            try value.encode(to: OrderedEncoder(encoder: encoder, type: Value.self))
        }
    }
}

/// Whether encoders know the type, so that it must reach them as it is.
private func isEncodedWhole<Value: Encodable>(_ type: Value.Type) -> Bool {
    type == String.self || type == Date.self || type == Data.self || type == URL.self || type == Decimal.self
        || type == Int.self || type == Double.self || type == Bool.self
}

// MARK: - Collections without an order

/// A type whose encoding has an order that differs between equal values, or that knows its order itself.
protocol OrderedEncodable {
    /// Encodes the value so that equal values have equal encodings.
    func encodeInOrder(to encoder: any Encoder) throws
}

extension Set: OrderedEncodable where Element: Encodable {
    func encodeInOrder(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in sortedByEncoding(self, \.self) { try container.encode(OrderedEncoding(element)) }
    }
}

extension Dictionary: OrderedEncodable where Key: Encodable, Value: Encodable {
    func encodeInOrder(to encoder: any Encoder) throws {
        // An empty dictionary can be cast to any other one.
        if Key.self == String.self, let texts = self as? [String: Value] {
            // Encoders do not convert the keys of such a dictionary as they convert names of properties.
            var container = encoder.singleValueContainer()
            try container.encode(texts.mapValues { OrderedEncoding<Value>($0) })
        } else if Key.self is any CodingKeyRepresentable.Type {
            try encode(to: OrderedEncoder(encoder: encoder, type: Self.self))
        } else {
            var container = encoder.unkeyedContainer()
            for (key, value) in sortedByEncoding(self, \.key) {
                try container.encode(OrderedEncoding(key))
                try container.encode(OrderedEncoding(value))
            }
        }
    }
}

/// Elements in the order of the encodings of their keys. The order is that of the collection if a key cannot be encoded, as
/// the encoder will say.
private func sortedByEncoding<Elements: Collection, Key: Encodable>(
    _ elements: Elements, _ key: (Elements.Element) -> Key
) -> [Elements.Element] {
    if Key.self == String.self {
        let texts = elements.map { (text: key($0) as? String ?? "", element: $0) }
        return texts.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }.map(\.element)
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    do {
        let encoded = try elements.map { (bytes: try encoder.encode(OrderedEncoding(key($0))), element: $0) }
        return encoded.sorted { one, other in
            // A shorter number is a smaller one.
            one.bytes.count == other.bytes.count
                ? one.bytes.lexicographicallyPrecedes(other.bytes) : one.bytes.count < other.bytes.count
        }.map(\.element)
    } catch {
        return Array(elements)
    }
}

// MARK: - The encoder

private struct OrderedEncoder: Encoder {
    let encoder: any Encoder
    /// The type of the value that is encoded; `nil` if it is not known.
    let type: Any.Type?
    var codingPath: [any CodingKey] { encoder.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { encoder.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(OrderedMembers(container: encoder.container(keyedBy: type)))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        OrderedElements(container: encoder.unkeyedContainer())
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        OrderedSingle(container: encoder.singleValueContainer(), type: type)
    }
}

private struct OrderedMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    var container: KeyedEncodingContainer<Key>
    var codingPath: [any CodingKey] { container.codingPath }

    mutating func encodeNil(forKey key: Key) throws { try container.encodeNil(forKey: key) }
    mutating func encode(_ value: Bool, forKey key: Key) throws { try container.encode(value, forKey: key) }
    mutating func encode(_ value: String, forKey key: Key) throws { try container.encode(value, forKey: key) }
    mutating func encode(_ value: Double, forKey key: Key) throws { try container.encode(value, forKey: key) }
    mutating func encode(_ value: Float, forKey key: Key) throws { try container.encode(value, forKey: key) }
    mutating func encode(_ value: Int, forKey key: Key) throws { try container.encode(value, forKey: key) }
    mutating func encode(_ value: Int8, forKey key: Key) throws { try container.encode(value, forKey: key) }
    mutating func encode(_ value: Int16, forKey key: Key) throws { try container.encode(value, forKey: key) }
    mutating func encode(_ value: Int32, forKey key: Key) throws { try container.encode(value, forKey: key) }
    mutating func encode(_ value: Int64, forKey key: Key) throws { try container.encode(value, forKey: key) }
    mutating func encode(_ value: UInt, forKey key: Key) throws { try container.encode(value, forKey: key) }
    mutating func encode(_ value: UInt8, forKey key: Key) throws { try container.encode(value, forKey: key) }
    mutating func encode(_ value: UInt16, forKey key: Key) throws { try container.encode(value, forKey: key) }
    mutating func encode(_ value: UInt32, forKey key: Key) throws { try container.encode(value, forKey: key) }
    mutating func encode(_ value: UInt64, forKey key: Key) throws { try container.encode(value, forKey: key) }

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        if isEncodedWhole(Value.self) {
            try container.encode(value, forKey: key)
        } else {
            try container.encode(OrderedEncoding(value), forKey: key)
        }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(OrderedMembers<Nested>(container: container.nestedContainer(keyedBy: type, forKey: key)))
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        OrderedElements(container: container.nestedUnkeyedContainer(forKey: key))
    }

    mutating func superEncoder() -> any Encoder { OrderedEncoder(encoder: container.superEncoder(), type: nil) }

    mutating func superEncoder(forKey key: Key) -> any Encoder {
        OrderedEncoder(encoder: container.superEncoder(forKey: key), type: nil)
    }
}

private struct OrderedElements: UnkeyedEncodingContainer {
    var container: any UnkeyedEncodingContainer
    var codingPath: [any CodingKey] { container.codingPath }
    var count: Int { container.count }

    mutating func encodeNil() throws { try container.encodeNil() }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        if isEncodedWhole(Value.self) {
            try container.encode(value)
        } else {
            try container.encode(OrderedEncoding(value))
        }
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(OrderedMembers<Nested>(container: container.nestedContainer(keyedBy: type)))
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        OrderedElements(container: container.nestedUnkeyedContainer())
    }

    mutating func superEncoder() -> any Encoder { OrderedEncoder(encoder: container.superEncoder(), type: nil) }
}

private struct OrderedSingle: SingleValueEncodingContainer {
    var container: any SingleValueEncodingContainer
    let type: Any.Type?
    var codingPath: [any CodingKey] { container.codingPath }

    mutating func encodeNil() throws { try container.encodeNil() }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        // A value that encodes itself as one of its own type, such as a number, is known to all encoders.
        if Value.self == type || isEncodedWhole(Value.self) {
            try container.encode(value)
        } else {
            try container.encode(OrderedEncoding(value))
        }
    }
}
