#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A decoder for the values of one form field, as a single value or as an array.
struct FormField: Decoder {
    let values: [String?]
    let encoding: FormEncoding
    let codingPath: [any CodingKey]
    /// Whether this is one value of an array, and so cannot be decoded as an array.
    let isElement: Bool
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Whether the field has a name but no value.
    var isNull: Bool { values == [nil] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw ItemsDecoder.misfit([String: Any].self, codingPath)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard !isElement else { throw ItemsDecoder.misfit([Any].self, codingPath) }
        return Elements(field: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { Single(field: self) }

    func decode<Model: Decodable>(_ type: Model.Type) throws -> Model {
        guard Self.isScalar(type) else { return try type.init(from: self) }
        guard values.count == 1 else { throw ItemsDecoder.misfit(type, codingPath) }
        guard let text = values.first ?? nil else {
            throw DecodingError.valueNotFound(
                type, DecodingError.Context(codingPath: codingPath, debugDescription: "The field has no value."))
        }
        guard let model = scalar(type, text) else { throw ItemsDecoder.misfit(type, codingPath) }
        return model
    }

    private struct Single: SingleValueDecodingContainer {
        let field: FormField
        var codingPath: [any CodingKey] { field.codingPath }

        func decodeNil() -> Bool { field.isNull }
        func decode<Model: Decodable>(_ type: Model.Type) throws -> Model { try field.decode(type) }
    }

    private struct Elements: UnkeyedDecodingContainer {
        let field: FormField
        var currentIndex = 0
        var codingPath: [any CodingKey] { field.codingPath }
        var count: Int? { field.values.count }
        var isAtEnd: Bool { currentIndex >= field.values.count }

        /// The value at the current index.
        private func element() throws -> FormField {
            guard !isAtEnd else {
                throw DecodingError.valueNotFound(
                    Any.self,
                    DecodingError.Context(codingPath: codingPath, debugDescription: "There are no more values."))
            }
            return FormField(
                values: [field.values[currentIndex]], encoding: field.encoding,
                codingPath: codingPath + [AnyKey(intValue: currentIndex)], isElement: true)
        }

        mutating func decodeNil() throws -> Bool {
            guard try element().isNull else { return false }
            currentIndex += 1
            return true
        }

        mutating func decode<Model: Decodable>(_ type: Model.Type) throws -> Model {
            let model = try element().decode(type)
            currentIndex += 1
            return model
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type
        ) throws -> KeyedDecodingContainer<Nested> { try element().container(keyedBy: type) }

        func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try element().unkeyedContainer() }

        mutating func superDecoder() throws -> any Decoder {
            let element = try element()
            currentIndex += 1
            return element
        }
    }
}

// MARK: - Single values

extension FormField {
    /// Whether a type is decoded here from one text, and not by its own initializer.
    static func isScalar(_ type: Any.Type) -> Bool {
        type is any FixedWidthInteger.Type || type is any BinaryFloatingPoint.Type || type == String.self
            || type == Bool.self || type == Date.self || type == Data.self || type == URL.self || type == Decimal.self
    }

    private func scalar<Model>(_ type: Model.Type, _ text: String) -> Model? {
        if let type = type as? any FixedWidthInteger.Type { return Self.integer(type, text) as? Model }
        if type is any BinaryFloatingPoint.Type {
            guard let number = Double(text), number.isFinite else { return nil }
            return type == Float.self ? Float(text) as? Model : number as? Model
        }
        if type == Bool.self { return Self.boolean(text) as? Model }
        if type == Date.self { return date(text) as? Model }
        if type == Data.self { return Self.data(text) as? Model }
        if type == URL.self { return URL(string: text) as? Model }
        if type == Decimal.self { return Double(text) == nil ? nil : Decimal(string: text) as? Model }
        return text as? Model
    }

    private static func integer<Number: FixedWidthInteger>(_ type: Number.Type, _ text: String) -> Number? {
        Number(text)
    }

    private static func boolean(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "1", "true": true
        case "0", "false": false
        default: nil
        }
    }

    private func date(_ text: String) -> Date? {
        switch encoding.dates {
        case .iso8601: return InternetDate.date(text)
        case .seconds, .milliseconds:
            guard let number = Double(text), number.isFinite else { return nil }
            return Date(timeIntervalSince1970: encoding.dates == .seconds ? number : number / 1000)
        }
    }

    /// Decodes base64 in either alphabet, with or without padding.
    private static func data(_ text: String) -> Data? {
        var text = text.replacing("-", with: "+").replacing("_", with: "/")
        while !text.utf8.count.isMultiple(of: 4) { text += "=" }
        return Data(base64Encoded: text)
    }
}
