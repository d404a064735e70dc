#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Writes parameters as the `name=value` pairs of a query.
struct FormWriter {
    let encoding: FormEncoding
    let charset: Charset

    /// The name and the depth at which a value is written.
    private struct Place {
        /// The percent-encoded name with structural brackets.
        var name: String
        var depth = 1

        func inside(_ suffix: String) -> Place { Place(name: name + suffix, depth: depth + 1) }
    }

    func pairs(_ parameters: FormParameters) throws(RequestFailure) -> [String] {
        var pairs: [String] = []
        for (name, value) in sorted(parameters.values) {
            try append(value, at: Place(name: try escaped(name)), to: &pairs)
        }
        return pairs
    }

    /// The elements in the order in which a query writes them.
    static func sorted(
        _ elements: Set<FormValue>, depth: Int
    ) throws(RequestFailure)
        -> [FormValue]
    {
        let writer = FormWriter(encoding: .standard, charset: .utf8)
        return try writer.sorted(elements, at: Place(name: "", depth: depth)).map(\.value)
    }

    private func append(
        _ value: FormValue, at place: Place, to pairs: inout [String]
    ) throws(RequestFailure) {
        guard place.depth <= FormParameters.maximumDepth else {
            throw RequestFailure(
                .encoding, "The parameters are nested more than \(FormParameters.maximumDepth) levels deep.",
                remedy: "Send them as JSON, or with fewer levels.")
        }
        switch value {
        case .null: appendNull(at: place, to: &pairs)
        case .array(let elements): try append(elements, at: place, to: &pairs)
        case .set(let elements):
            for element in try sorted(elements, at: place) { pairs += element.pairs }
        case .dictionary(let values):
            for (name, value) in sorted(values) {
                try append(value, at: place.inside("[\(try escaped(name))]"), to: &pairs)
            }
        default:
            if let text = try scalar(value, at: place) { pairs.append("\(place.name)=\(try escaped(text))") }
        }
    }

    private func appendNull(at place: Place, to pairs: inout [String]) {
        switch encoding.null {
        case .keyOnly: if !place.name.isEmpty { pairs.append(place.name) }
        case .drop: break
        case .empty: pairs.append(place.name + "=")
        case .literal: pairs.append(place.name + "=null")
        }
    }

    private func append(
        _ elements: [FormValue], at place: Place, to pairs: inout [String]
    ) throws(RequestFailure) {
        switch encoding.arrays {
        case .brackets:
            for element in elements { try append(element, at: place.inside("[]"), to: &pairs) }
        case .indexed:
            for (index, element) in elements.enumerated() {
                try append(element, at: place.inside("[\(index)]"), to: &pairs)
            }
        case .repeat:
            for element in elements { try append(element, at: place.inside(""), to: &pairs) }
        case .comma:
            var pieces: [String] = []
            for element in elements {
                if let piece = try piece(element, at: place) { pieces.append(piece) }
            }
            if !pieces.isEmpty { pairs.append("\(place.name)=\(pieces.joined(separator: ","))") }
        }
    }

    /// An array element in comma-separated format; `nil` if the element is dropped.
    private func piece(_ value: FormValue, at place: Place) throws(RequestFailure) -> String? {
        if value == .null {
            return switch encoding.null {
            case .keyOnly, .empty: ""
            case .drop: nil
            case .literal: "null"
            }
        }
        guard let text = try scalar(value, at: place) else {
            throw failure(place, "is an array that contains a container", "Use another array format than commas.")
        }
        return try escaped(text)
    }

    /// Each element with its pairs, sorted by the pairs.
    private func sorted(
        _ elements: Set<FormValue>, at place: Place
    ) throws(RequestFailure) -> [(value: FormValue, pairs: [String])] {
        var written: [(value: FormValue, pairs: [String])] = []
        for element in elements {
            var pairs: [String] = []
            try append(element, at: place.inside(""), to: &pairs)
            written.append((element, pairs))
        }
        return written.sorted { one, other in
            one.pairs == other.pairs
                ? Self.rank(one.value) < Self.rank(other.value)
                : one.pairs.lexicographicallyPrecedes(other.pairs) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
    }

    /// The order of kinds that look equal in a query, such as 1 and "1", but differ in JSON.
    private static func rank(_ value: FormValue) -> Int {
        switch value {
        case .null: 0
        case .boolean: 1
        case .integer: 2
        case .unsigned: 3
        case .number: 4
        case .date: 5
        case .data: 6
        case .text: 7
        case .array: 8
        case .set: 9
        case .dictionary: 10
        }
    }

    private func sorted(
        _ values: [String: FormValue]
    ) -> [(name: String, value: FormValue)] {
        values.map { (folded: $0.key.lowercased(), name: $0.key, value: $0.value) }.sorted { one, other in
            one.folded == other.folded
                ? one.name.unicodeScalars.lexicographicallyPrecedes(other.name.unicodeScalars)
                : one.folded.unicodeScalars.lexicographicallyPrecedes(other.folded.unicodeScalars)
        }.map { ($0.name, $0.value) }
    }
}

// MARK: - Single values

extension FormWriter {
    /// The text of a value before escaping; `nil` for null and containers.
    private func scalar(_ value: FormValue, at place: Place) throws(RequestFailure) -> String? {
        switch value {
        case .text(let text): return text
        case .integer(let number): return String(number)
        case .unsigned(let number): return String(number)
        case .number(let number):
            guard number.isFinite else { throw failure(place, "is not a finite number", nil) }
            return Self.text(number)
        case .boolean(let value):
            return encoding.booleans == .numeric ? (value ? "1" : "0") : (value ? "true" : "false")
        case .date(let date):
            guard let text = text(date) else {
                throw failure(place, "is a date outside the years 1 to 9999", nil)
            }
            return text
        case .data(let data): return text(data)
        case .null, .array, .set, .dictionary: return nil
        }
    }

    /// The number without a fraction of zero.
    private static func text(_ number: Double) -> String {
        Int64(exactly: number).map { String($0) } ?? String(number)
    }

    private func text(_ date: Date) -> String? {
        let seconds = date.timeIntervalSince1970
        switch encoding.dates {
        case .iso8601: return InternetDate.text(date)
        case .seconds: return seconds.isFinite ? Self.text(seconds) : nil
        case .milliseconds: return seconds.isFinite ? Self.text((seconds * 1000).rounded()) : nil
        }
    }

    private func text(_ data: Data) -> String {
        let text = data.base64EncodedString()
        guard encoding.data == .base64url else { return text }
        return text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The percent-encoded text.
    private func escaped(_ text: String) throws(RequestFailure) -> String {
        if charset == .utf8 { return RequestURL.queryEncoded(text) }
        return PercentCoding.encoded(try charset.encode(text))
    }

    private func failure(_ place: Place, _ what: String, _ remedy: String?) -> RequestFailure {
        RequestFailure(
            .encoding, "The parameter “\(RequestFailure.shown(place.name))” \(what).", remedy: remedy)
    }
}
