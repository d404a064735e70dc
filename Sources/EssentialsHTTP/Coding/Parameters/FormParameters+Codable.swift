extension FormParameters: Codable {
    /// Reads named values from a decoder of self-describing data, such as JSON's. Dates, data and sets come as what the
    /// document has in their place.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        var values: [String: FormValue] = [:]
        for key in container.allKeys {
            values[key.stringValue] = try FormValue(container.decode(JSONValue.self, forKey: key))
        }
        self.init(values: values)
    }

    /// Writes the values with their types: numbers as numbers, dates and data as the encoder does, sets as sorted
    /// arrays.
    ///
    /// - Throws: `EncodingError` for a number that is not finite, and for more than ``maximumDepth`` levels.
    public func encode(to encoder: any Encoder) throws {
        try Level(value: .dictionary(values), depth: 0).encode(to: encoder)
    }

    /// A value and how deep it stands.
    private struct Level: Encodable {
        let value: FormValue
        let depth: Int

        func encode(to encoder: any Encoder) throws {
            guard depth <= FormParameters.maximumDepth else {
                throw EncodingError.tooDeep(FormParameters.maximumDepth)
            }
            switch value {
            case .text(let value): try value.encode(to: encoder)
            case .integer(let value): try value.encode(to: encoder)
            case .unsigned(let value): try value.encode(to: encoder)
            case .number(let value): try value.encode(to: encoder)
            case .boolean(let value): try value.encode(to: encoder)
            // Through a container, so that the encoder's own form for dates and data is used.
            case .date(let value):
                var container = encoder.singleValueContainer()
                try container.encode(value)
            case .data(let value):
                var container = encoder.singleValueContainer()
                try container.encode(value)
            case .null:
                var container = encoder.singleValueContainer()
                try container.encodeNil()
            case .array(let elements): try encode(elements, to: encoder)
            case .set(let elements): try encode(FormWriter.sorted(elements, depth: depth), to: encoder)
            case .dictionary(let values):
                var container = encoder.container(keyedBy: AnyKey.self)
                for (name, value) in values {
                    try container.encode(Level(value: value, depth: depth + 1), forKey: AnyKey(name))
                }
            }
        }

        private func encode(_ elements: [FormValue], to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(Level(value: element, depth: depth + 1)) }
        }
    }
}

extension FormValue {
    /// The value of a document.
    public init(_ value: JSONValue) {
        switch value {
        case .null: self = .null
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self = .integer(value)
        case .unsigned(let value): self = .unsigned(value)
        case .number(let value): self = .number(value)
        case .string(let value): self = .text(value)
        case .array(let elements): self = .array(elements.map(Self.init))
        case .object(let members): self = .dictionary(members.mapValues(Self.init))
        }
    }
}
