extension JSONValue: Codable {
    /// Decodes a value from a decoder of a self-describing format such as JSON.
    ///
    /// With ``JSONCodec``, up to ``maximumDepth`` levels are decoded, also for a value inside a model. Other decoders
    /// do not reveal the kind of the next value, and each failed attempt takes time that grows with the square of the
    /// depth. For them the limit is ``maximumDepthOfOtherDecoders``.
    ///
    /// - Throws: `DecodingError.dataCorrupted` if the value is nested more deeply than the limit, and the decoder's
    ///   errors.
    public init(from decoder: any Decoder) throws {
        self = try JSONValueReader.value(from: decoder)
    }

    /// Encodes the value.
    ///
    /// - Throws: `EncodingError` if a number is not finite, or if there are more than ``maximumDepth`` levels.
    public func encode(to encoder: any Encoder) throws {
        try Level(value: self, depth: 1).encode(to: encoder)
    }

    /// A value and its depth.
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

extension JSONValue: OrderedEncodable {
    /// Encodes the value, which has no sets.
    func encodeInOrder(to encoder: any Encoder) throws { try encode(to: encoder) }
}

extension EncodingError {
    /// The error for a value that is nested too deeply.
    static func tooDeep(_ maximum: Int) -> EncodingError {
        // The error holds neither the value, which is deep, nor the path, which is long.
        .invalidValue(
            "…", Context(codingPath: [], debugDescription: "The value is nested more than \(maximum) levels deep."))
    }
}

extension DecodingError {
    /// The error for a document that is nested too deeply.
    static func tooDeep(_ maximum: Int) -> DecodingError {
        .dataCorrupted(
            Context(codingPath: [], debugDescription: "The value is nested more than \(maximum) levels deep."))
    }
}

/// A coding key with any name.
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
