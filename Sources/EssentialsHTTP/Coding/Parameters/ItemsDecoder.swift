#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Decodes models with flat fields from the items of a form.
///
/// A field is a single value, or an array of the values of all items with its name or with its name and `[]`.
struct ItemsDecoder: Decoder {
    let values: [String: [String?]]
    let encoding: FormEncoding
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ items: QueryItems, _ encoding: FormEncoding) {
        values = Dictionary(grouping: items.items, by: \.name).mapValues { $0.map(\.value) }
        self.encoding = encoding
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Keyed<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.misfit([Any].self, []) }
    func singleValueContainer() -> any SingleValueDecodingContainer { Whole(decoder: self) }

    static func misfit(_ type: Any.Type, _ path: [any CodingKey]) -> DecodingError {
        .typeMismatch(type, DecodingError.Context(codingPath: path, debugDescription: "A form has no such field."))
    }
}

extension ItemsDecoder {
    /// The whole form as a single value, for types that request one, such as optionals.
    private struct Whole: SingleValueDecodingContainer {
        let decoder: ItemsDecoder
        var codingPath: [any CodingKey] { [] }

        func decodeNil() -> Bool { false }

        func decode<Model: Decodable>(_ type: Model.Type) throws -> Model {
            // A scalar would request a single value again without end.
            if FormField.isScalar(type) { throw ItemsDecoder.misfit(type, []) }
            return try type.init(from: decoder)
        }
    }

    private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let decoder: ItemsDecoder
        var codingPath: [any CodingKey] { [] }

        var allKeys: [Key] { decoder.values.keys.sorted().compactMap { Key(stringValue: $0) } }

        func contains(_ key: Key) -> Bool { values(key) != nil }

        private func values(_ key: any CodingKey) -> [String?]? {
            decoder.values[key.stringValue] ?? decoder.values[key.stringValue + "[]"]
        }

        private func field(_ key: any CodingKey) throws -> FormField {
            guard let values = values(key) else {
                throw DecodingError.keyNotFound(
                    key, DecodingError.Context(codingPath: [], debugDescription: "There is no such field."))
            }
            return FormField(values: values, encoding: decoder.encoding, codingPath: [key], isElement: false)
        }

        func decodeNil(forKey key: Key) throws -> Bool { try field(key).isNull }

        func decode<Model: Decodable>(_ type: Model.Type, forKey key: Key) throws -> Model {
            try field(key).decode(type)
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> { try field(key).container(keyedBy: type) }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try field(key).unkeyedContainer()
        }

        func superDecoder() throws -> any Decoder { try field(AnyKey("super")) }
        func superDecoder(forKey key: Key) throws -> any Decoder { try field(key) }
    }
}
