extension FormParameters: Codable {
    /// Decodes named values from a decoder of a self-describing format such as JSON. Dates, data and sets are decoded
    /// as the texts, numbers and arrays that the document contains.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        var values: [String: FormValue] = [:]
        for key in container.allKeys {
            values[key.stringValue] = try FormValue(container.decode(JSONValue.self, forKey: key))
        }
        self.init(values: values)
    }

    /// Encodes the values with their types. Numbers stay numbers, dates and data use the encoder's strategies, and sets
    /// become sorted arrays.
    ///
    /// - Throws: `EncodingError` if a number is not finite, or if there are more than ``maximumDepth`` levels.
    public func encode(to encoder: any Encoder) throws {
        try Level(value: .dictionary(values), depth: 0).encode(to: encoder)
    }

    /// A value and its depth.
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
            // A container applies the encoder's strategies for dates and data.
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
    /// Creates the value that corresponds to a JSON value.
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
