/// Decodes values from any decoder, without recursion.
///
/// A decoder does not reveal the kind of its value. A failed attempt throws an error that contains the path, and
/// Foundation's decoder needs time that grows with the square of the depth to make that error. So a value deeper than
/// ``JSONValue/maximumDepthOfOtherDecoders`` levels is decoded only if an outline gives its kind.
struct JSONValueReader {
    /// An array or object that is being decoded.
    private struct Open {
        var array: (any UnkeyedDecodingContainer)?
        var elements: [JSONValue] = []
        var object: KeyedDecodingContainer<AnyKey>?
        var keys: ArraySlice<AnyKey> = []
        var members: [String: JSONValue] = [:]
        /// The array or object in the outline.
        let outline: JSONValue?

        var value: JSONValue { object == nil ? .array(elements) : .object(members) }

        /// The decoder of the next value, and the value in the outline; `nil` at the end.
        mutating func next() throws -> (any Decoder, JSONValue?)? {
            if let object {
                guard let key = keys.first else { return nil }
                return (try object.superDecoder(forKey: key), outline?[key.stringValue])
            }
            guard let index = array?.currentIndex, array?.isAtEnd == false, let decoder = try array?.superDecoder()
            else { return nil }
            return (decoder, outline?[index])
        }

        mutating func add(_ value: JSONValue) {
            if object == nil { return elements.append(value) }
            if let key = keys.popFirst() { members[key.stringValue] = value }
        }
    }

    private enum Begun {
        case value(JSONValue)
        case open(Open)
    }

    /// The number of arrays and objects that contain the first value.
    private let depth: Int
    private var open: [Open] = []

    static func value(from decoder: any Decoder) throws -> JSONValue {
        let path = decoder.codingPath
        var reader = JSONValueReader(depth: path.count)
        return try reader.value(from: decoder, JSONOutline.of(decoder)?.value(at: path))
    }

    private init(depth: Int) { self.depth = depth }

    private mutating func value(from first: any Decoder, _ outline: JSONValue?) throws -> JSONValue {
        var (decoder, outline) = (first, outline)
        while true {
            switch try begin(decoder, outline) {
            case .open(let begun): open.append(begun)
            case .value(let value):
                if open.isEmpty { return value }
                open[open.count - 1].add(value)
            }
            while true {
                if let next = try open[open.count - 1].next() {
                    (decoder, outline) = next
                    break
                }
                let closed = open.removeLast().value
                if open.isEmpty { return closed }
                open[open.count - 1].add(closed)
            }
        }
    }

    // MARK: One value

    /// Decodes a scalar, or the beginning of an array or object.
    ///
    /// - Parameters:
    ///   - decoder: The decoder at the value.
    ///   - outline: The value in the outline, which gives its kind; `nil` if the kind is not known.
    private func begin(_ decoder: any Decoder, _ outline: JSONValue?) throws -> Begun {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() { return .value(.null) }
        switch outline {
        case .string: if let value = try? container.decode(String.self) { return .value(.string(value)) }
        case .integer: if let value = try? container.decode(Int64.self) { return .value(.integer(value)) }
        case .boolean: if let value = try? container.decode(Bool.self) { return .value(.boolean(value)) }
        case .unsigned, .number:
            if let value = try? container.decode(Double.self) { return .value(Self.number(value, container)) }
        case .object: if let begun = Self.object(decoder, outline) { return begun }
        case .array: if let begun = Self.array(decoder, outline) { return begun }
        case .null, nil: break
        }
        return try probed(decoder, container)
    }

    /// Tries each kind, the most frequent first.
    private func probed(_ decoder: any Decoder, _ container: any SingleValueDecodingContainer) throws -> Begun {
        let maximum = JSONValue.maximumDepthOfOtherDecoders
        guard depth + open.count <= maximum else { throw DecodingError.tooDeep(maximum) }
        if let value = try? container.decode(String.self) { return .value(.string(value)) }
        if let value = try? container.decode(Int64.self) { return .value(.integer(value)) }
        if let value = try? container.decode(Double.self) { return .value(Self.number(value, container)) }
        if let value = try? container.decode(Bool.self) { return .value(.boolean(value)) }
        guard depth + open.count < maximum else { throw DecodingError.tooDeep(maximum) }
        if let begun = Self.object(decoder, nil) ?? Self.array(decoder, nil) { return begun }
        throw DecodingError.typeMismatch(
            JSONValue.self,
            DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "The decoder has no JSON value."))
    }

    /// A number that does not fit `Int64`.
    private static func number(_ value: Double, _ container: any SingleValueDecodingContainer) -> JSONValue {
        // Decoding a fraction as an integer would fail, so it is not attempted.
        guard value >= 0x1p63, value <= 0x1p64, let whole = try? container.decode(UInt64.self) else {
            return .number(value)
        }
        return .whole(whole)
    }

    private static func object(_ decoder: any Decoder, _ outline: JSONValue?) -> Begun? {
        guard let container = try? decoder.container(keyedBy: AnyKey.self) else { return nil }
        return .open(Open(object: container, keys: container.allKeys[...], outline: outline))
    }

    private static func array(_ decoder: any Decoder, _ outline: JSONValue?) -> Begun? {
        guard let container = try? decoder.unkeyedContainer() else { return nil }
        return .open(Open(array: container, outline: outline))
    }
}
