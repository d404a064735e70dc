import EssentialsHTTP

/// Which segments of a path hold values, so that all paths of one kind can be shown as the same text, such as `/users/{id}`.
///
/// It is kept beside an encoded path, from which the text is only made if somebody asks for it.
struct PathTemplate: Sendable {
    /// What a segment holds.
    enum Segment {
        /// Written text.
        case written
        /// At least one value; the segment is shown as `{}`.
        case value
        /// At least one value, in a segment that is shown as this text, such as `{id}`.
        case named(String)
        /// Text that may be a value or not.
        case unknown
    }

    /// The number of segments; ``unknown`` if it is not known which of them hold values.
    private var count: UInt8 = 0
    /// A bit for each segment that holds a value, the first one at the bottom.
    private var values: UInt64 = 0
    /// What the segments with values are shown as, in order; `nil` if all are `{}`.
    private var texts: [String]?

    private static let maximum: UInt8 = 64
    private static let unknown: UInt8 = .max

    /// Appends a segment.
    mutating func append(_ segment: Segment) {
        guard count < Self.maximum else { return count = Self.unknown }
        let text: String?
        switch segment {
        case .unknown: return count = Self.unknown
        case .written:
            count += 1
            return
        case .value: text = nil
        case .named(let name): text = name
        }
        if text != nil || texts != nil { texts = shownTexts + [text ?? Self.nameless] }
        values |= 1 << UInt64(count)
        count += 1
    }

    /// Appends the segments of another path.
    mutating func append(_ other: PathTemplate) {
        guard other.count <= Self.maximum, count <= Self.maximum, other.count + count <= Self.maximum else {
            return count = Self.unknown
        }
        if texts != nil || other.texts != nil { texts = shownTexts + other.shownTexts }
        // A shift by 64 gives 0, and then there are no further segments.
        values |= other.values << UInt64(count)
        count += other.count
    }

    /// The segments of a path with its values replaced; `nil` if it is not known which of them are values.
    ///
    /// - Parameter path: The encoded path.
    func segments(of path: String) -> [String]? {
        let segments = path.utf8.split(separator: UInt8(ascii: "/"))
        guard count <= Self.maximum, segments.count == Int(count) else { return nil }
        var texts = shownTexts[...]
        return segments.enumerated().map { index, segment in
            values >> UInt64(index) & 1 == 1 ? texts.popFirst() ?? Self.nameless : String(Substring(segment))
        }
    }

    /// The path with its values replaced, with a slash at the beginning; `nil` if it is not known which segments are values.
    ///
    /// - Parameter path: The encoded path.
    func text(of path: String) -> String? {
        guard count > 0 else { return "/" }
        guard let segments = segments(of: path) else { return nil }
        return "/" + segments.joined(separator: "/") + (path.utf8.last == UInt8(ascii: "/") ? "/" : "")
    }

    private var shownTexts: [String] {
        texts ?? Array(repeating: Self.nameless, count: values.nonzeroBitCount)
    }

    /// What is shown for a value without a name.
    static let nameless = "{}"
}

/// What a request is called in metrics and traces.
enum RequestTemplate: Sendable {
    case none
    /// The caller's text.
    case text(String)
    /// That of a definition, and its encoded path.
    case path(PathTemplate, String)

    /// The text; `nil` if there is none.
    var text: String? {
        switch self {
        case .none: nil
        case .text(let text): text
        case .path(let template, let path): template.text(of: path)
        }
    }
}
