/// A pattern of media types that a codec is registered for.
///
/// ```swift
/// try MediaPattern("application/json")     // that type
/// try MediaPattern("*/json")               // that subtype of every type
/// try MediaPattern("application/*+json")   // every application type with the suffix json
/// try MediaPattern("*/*+json")             // every type with the suffix json
/// try MediaPattern("text/*")               // every text type
/// try MediaPattern("*/*")                  // every type
/// ```
///
/// Case and the parameters of a media type are ignored. Patterns are ordered from less to more specific, which is the
/// order of the example read from its end. Equally specific patterns are ordered by their text.
public struct MediaPattern: Sendable, Hashable, Comparable, CustomStringConvertible {
    private enum Breadth: Int, Sendable {
        case any, type, suffix, typeAndSuffix, subtype, exact
    }

    private let breadth: Breadth
    /// The type; `nil` for `*`.
    let type: String?
    /// The subtype; `nil` for `*` and for a pattern with a suffix.
    let subtype: String?
    let suffix: String?

    /// The pattern `*/*`.
    public static let any = MediaPattern(type: nil, subtype: nil, suffix: nil)

    /// Parses a pattern.
    ///
    /// - Throws: `invalidRequest` if the text is not a pattern: it has no slash, it has a parameter, or an asterisk
    ///   stands for anything but a whole type, a whole subtype, or the part of a subtype before the suffix.
    public init(_ text: String) throws(RequestFailure) {
        let parts = text.lowercased().split(separator: "/", omittingEmptySubsequences: false)
        // Some non-ASCII letters become ASCII in lower case.
        guard text.utf8.allSatisfy({ $0 < 0x80 }), parts.count == 2,
            parts.allSatisfy({ MediaTypeReader.isToken($0.utf8) })
        else {
            throw Self.invalid(text)
        }
        let type = parts[0] == "*" ? nil : String(parts[0])
        if parts[1] == "*" {
            self.init(type: type, subtype: nil, suffix: nil)
        } else if parts[1].hasPrefix("*+") {
            self.init(type: type, subtype: nil, suffix: String(parts[1].dropFirst(2)))
        } else {
            self.init(type: type, subtype: String(parts[1]), suffix: nil)
        }
        let stars = [self.type, subtype, suffix].compactMap { $0 }
        guard stars.allSatisfy({ !$0.isEmpty && !$0.contains("*") }), suffix?.contains("+") != true else {
            throw Self.invalid(text)
        }
    }

    /// Creates the pattern for one media type. Its parameters are ignored.
    public init(_ mediaType: MediaType) {
        self.init(type: mediaType.type, subtype: mediaType.subtype, suffix: nil)
    }

    init(type: String?, subtype: String?, suffix: String?) {
        self.type = type
        self.subtype = subtype
        self.suffix = suffix
        breadth =
            switch (type, subtype, suffix) {
            case (_?, _?, _): .exact
            case (nil, _?, _): .subtype
            case (_?, nil, _?): .typeAndSuffix
            case (nil, nil, _?): .suffix
            case (_?, nil, nil): .type
            case (nil, nil, nil): .any
            }
    }

    /// Every pattern that matches a media type, the most specific first.
    static func all(matching mediaType: MediaType) -> [MediaPattern] {
        var patterns = [
            MediaPattern(mediaType), MediaPattern(type: nil, subtype: mediaType.subtype, suffix: nil),
        ]
        if let suffix = mediaType.suffix {
            patterns.append(MediaPattern(type: mediaType.type, subtype: nil, suffix: suffix))
            patterns.append(MediaPattern(type: nil, subtype: nil, suffix: suffix))
        }
        patterns.append(MediaPattern(type: mediaType.type, subtype: nil, suffix: nil))
        patterns.append(.any)
        return patterns
    }

    /// Whether the pattern matches a media type.
    public func matches(_ mediaType: MediaType) -> Bool {
        (type == nil || type == mediaType.type) && (subtype == nil || subtype == mediaType.subtype)
            && (suffix == nil || suffix == mediaType.suffix)
    }

    /// Whether the first pattern is less specific than the second. Equally specific patterns are compared by their
    /// text.
    public static func < (one: MediaPattern, other: MediaPattern) -> Bool {
        one.breadth == other.breadth
            ? one.description < other.description : one.breadth.rawValue < other.breadth.rawValue
    }

    /// The pattern in lower case, such as `text/*`.
    public var description: String { "\(type ?? "*")/\(subtype ?? "*")\(suffix.map { "+\($0)" } ?? "")" }

    private static func invalid(_ text: String) -> RequestFailure {
        RequestFailure(
            .invalidRequest, "“\(RequestFailure.shown(text))” is not a media type pattern.",
            remedy: "Write type/subtype, */subtype, type/*, */*, or a suffix as in */*+json.")
    }
}
