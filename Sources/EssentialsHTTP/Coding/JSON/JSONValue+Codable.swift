extension JSONValue: Codable {
    /// Reads a value from a decoder of self-describing data, such as JSON's.
    ///
    /// ``JSONCodec`` reads ``maximumDepth`` levels, also for a value inside a model. Another decoder does not say which
    /// kind of value comes next, and each attempt to read the wrong kind costs a decoder time that grows with the square
    /// of the depth: with those the limit is ``maximumDepthOfOtherDecoders``.
    ///
    /// - Throws: `DecodingError`, as `dataCorrupted` for a value that is nested deeper than the limit.
    public init(from decoder: any Decoder) throws {
        self = try JSONValueReader.value(from: decoder)
    }

    /// Writes the value.
    ///
    /// - Throws: `EncodingError` for a number that is not finite, and for more than ``maximumDepth`` levels.
    public func encode(to encoder: any Encoder) throws {
        try Level(value: self, depth: 1).encode(to: encoder)
    }

    /// A value and how deep it stands.
    private struct Level: Encodable {
        let value: JSONValue
        let depth: Int

        func encode(to encoder: any Encoder) throws {
            guard depth <= JSONValue.maximumDepth else { throw EncodingError.tooDeep(JSONValue.maximumDepth) }
            switch value {
            case .null:
                var container = encoder.singleValueContainer()
                try container.encodeNil()
            case .boolean(let value): try value.encode(to: encoder)
            case .integer(let value): try value.encode(to: encoder)
            case .unsigned(let value): try value.encode(to: encoder)
            case .number(let value): try value.encode(to: encoder)
            case .string(let value): try value.encode(to: encoder)
            case .array(let elements):
                var container = encoder.unkeyedContainer()
                for element in elements { try container.encode(Level(value: element, depth: depth + 1)) }
            case .object(let members):
                var container = encoder.container(keyedBy: AnyKey.self)
                for (name, member) in members {
                    try container.encode(Level(value: member, depth: depth + 1), forKey: AnyKey(name))
                }
            }
        }
    }
}

extension EncodingError {
    /// For values of ours that are nested too deep.
    static func tooDeep(_ maximum: Int) -> EncodingError {
        // Not the value itself, which is deep, and not the path, which is long.
        .invalidValue(
            "…", Context(codingPath: [], debugDescription: "The value is nested more than \(maximum) deep."))
    }
}

extension DecodingError {
    /// For documents that are nested too deep.
    static func tooDeep(_ maximum: Int) -> DecodingError {
        .dataCorrupted(Context(codingPath: [], debugDescription: "The value is nested more than \(maximum) deep."))
    }
}

/// A key of any name.
struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(stringValue: String) { self.init(stringValue) }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }
}
