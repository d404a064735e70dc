extension JSONValue: Codable {
    /// Reads a value from a decoder of self-describing data, such as JSON's.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // Each attempt that fails costs an error. The order is that of how often kinds come.
        if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = (try? container.decode(UInt64.self)).map(Self.whole) ?? .number(value)
        } else if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let keyed = try? decoder.container(keyedBy: AnyKey.self) {
            self = .object(
                try Dictionary(keyed.allKeys.map { ($0.stringValue, try keyed.decode(Self.self, forKey: $0)) }) {
                    first, _ in first
                })
        } else {
            self = .array(try container.decode([JSONValue].self))
        }
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
