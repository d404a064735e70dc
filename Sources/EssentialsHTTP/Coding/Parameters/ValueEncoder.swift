#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Encodes models as parameter values.
struct ValueEncoder: Encoder {
    /// A value that is being encoded. Containers share it with their encoder.
    final class Node {
        enum Content {
            case nothing
            case value(FormValue)
            case keyed([String: Node])
            case unkeyed([Node])
            case set([Node])
        }

        var content = Content.nothing

        var value: FormValue {
            switch content {
            // A model that encodes nothing has no properties.
            case .nothing: .dictionary([:])
            case .value(let value): value
            case .keyed(let nodes): .dictionary(nodes.mapValues(\.value))
            case .unkeyed(let nodes): .array(nodes.map(\.value))
            case .set(let nodes): .set(Set(nodes.map(\.value)))
            }
        }

        func beginKeyed() {
            if case .keyed = content { return }
            content = .keyed([:])
        }

        func beginUnkeyed() {
            if case .unkeyed = content { return }
            content = .unkeyed([])
        }

        func member(_ name: String) -> Node {
            let member = Node()
            guard case .keyed(var members) = content else { return member }
            content = .nothing
            members[name] = member
            content = .keyed(members)
            return member
        }

        func element() -> Node {
            let element = Node()
            guard case .unkeyed(var elements) = content else { return element }
            content = .nothing
            elements.append(element)
            content = .unkeyed(elements)
            return element
        }

        var count: Int {
            if case .unkeyed(let elements) = content { elements.count } else { 0 }
        }
    }

    let node: Node
    let codingPath: [any CodingKey]
    /// The number of models that are being encoded around this one. It bounds a model that contains itself.
    let calls: Int
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    private static let maximumCalls = 256

    static func value(of model: some Encodable, path: [any CodingKey]) throws -> FormValue {
        let encoder = ValueEncoder(node: Node(), codingPath: path, calls: 0)
        try encoder.encode(model)
        return encoder.node.value
    }

    /// An encoder for a value inside this one.
    func inside(_ node: Node, _ key: any CodingKey) -> ValueEncoder {
        ValueEncoder(node: node, codingPath: codingPath + [key], calls: calls)
    }

    func encode(_ model: some Encodable) throws {
        guard calls < Self.maximumCalls, codingPath.count <= FormParameters.maximumDepth else {
            throw EncodingError.tooDeep(FormParameters.maximumDepth)
        }
        if let value = Self.scalar(model) {
            node.content = .value(value)
            return
        }
        try model.encode(to: ValueEncoder(node: node, codingPath: codingPath, calls: calls + 1))
        // Sets encode themselves as arrays, in an order that differs between runs.
        if model is any EncodedAsSet, case .unkeyed(let nodes) = node.content { node.content = .set(nodes) }
        if model is any EncodedAsPairs, case .unkeyed(let nodes) = node.content {
            node.content = .unkeyed(Self.sortedPairs(nodes))
        }
    }

    /// Keys and values in turn, sorted by the keys. Dictionaries whose keys are no coding keys encode themselves so, in an
    /// order that differs between runs.
    private static func sortedPairs(_ nodes: [Node]) -> [Node] {
        let pairs = stride(from: 0, to: nodes.count - 1, by: 2).map { index in
            (key: "\(nodes[index].value)", nodes: nodes[index...index + 1])
        }
        return pairs.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.flatMap(\.nodes)
    }

    private static func scalar(_ model: some Encodable) -> FormValue? {
        switch model {
        case let value as String: value.formValue
        case let value as Bool: value.formValue
        case let value as Double: value.formValue
        case let value as Float: value.formValue
        case let value as Date: value.formValue
        case let value as Data: value.formValue
        case let value as URL: .text(value.absoluteString)
        case let value as Decimal: decimal(value)
        case let value as FormParameters: value.formValue
        // Last, because this cast is the slowest. Containers are encoded element by element.
        case let value as any (FormParameterValue & FixedWidthInteger): value.formValue
        default: nil
        }
    }

    private static func decimal(_ value: Decimal) -> FormValue {
        let text = value.description
        if let whole = Int64(text) { return .integer(whole) }
        guard let number = Double(text), "\(number)" == text else { return .text(text) }
        return .number(number)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.beginKeyed()
        return KeyedEncodingContainer(Keyed<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.beginUnkeyed()
        return Unkeyed(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { Single(encoder: self) }
}

/// A type that encodes itself as an array but has no order.
private protocol EncodedAsSet {}

extension Set: EncodedAsSet {}

/// A type that encodes itself as an array of keys and values, or as named values.
private protocol EncodedAsPairs {}

extension Dictionary: EncodedAsPairs {}

// MARK: - Containers

extension ValueEncoder {
    private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: ValueEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        private func place(_ key: any CodingKey) -> ValueEncoder {
            encoder.inside(encoder.node.member(key.stringValue), key)
        }

        func encodeNil(forKey key: Key) { place(key).node.content = .value(.null) }
        func encode(_ value: some Encodable, forKey key: Key) throws { try place(key).encode(value) }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> { place(key).container(keyedBy: type) }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { place(key).unkeyedContainer() }
        func superEncoder() -> any Encoder { place(AnyKey("super")) }
        func superEncoder(forKey key: Key) -> any Encoder { place(key) }
    }

    private struct Unkeyed: UnkeyedEncodingContainer {
        let encoder: ValueEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }
        var count: Int { encoder.node.count }

        private func place() -> ValueEncoder {
            let key = AnyKey(intValue: count)
            return encoder.inside(encoder.node.element(), key)
        }

        func encodeNil() { place().node.content = .value(.null) }
        func encode(_ value: some Encodable) throws { try place().encode(value) }

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
            place().container(keyedBy: type)
        }

        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { place().unkeyedContainer() }
        func superEncoder() -> any Encoder { place() }
    }

    private struct Single: SingleValueEncodingContainer {
        let encoder: ValueEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        func encodeNil() { encoder.node.content = .value(.null) }
        func encode(_ value: some Encodable) throws { try encoder.encode(value) }
    }
}
