/// Which media types a codec is for.
///
/// ```swift
/// try MediaPattern("application/json")     // that type
/// try MediaPattern("application/*+json")   // every application type with the suffix json
/// try MediaPattern("*/*+json")             // every type with the suffix json
/// try MediaPattern("text/*")               // every text type
/// try MediaPattern("*/*")                  // every type
/// ```
///
/// Case makes no difference, and the parameters of a media type do not count. Patterns are ordered: the greater of two
/// is the more specific one, in the order of the example from its end, equals by their text.
public struct MediaPattern: Sendable, Hashable, Comparable, CustomStringConvertible {
    private enum Breadth: Int, Sendable {
        case any, type, suffix, typeAndSuffix, exact
    }

    private let breadth: Breadth
    /// Nil for `*`.
    let type: String?
    /// The subtype of an exact pattern, else nil.
    let subtype: String?
    let suffix: String?

    /// `*/*`.
    public static let any = MediaPattern(type: nil, subtype: nil, suffix: nil)

    /// Reads a pattern.
    ///
    /// - Throws: `invalidRequest` for a text that is none: no slash, a parameter, an asterisk anywhere but for a whole
    ///   type or subtype or in front of a suffix.
    public init(_ text: String) throws(RequestFailure) {
        let parts = text.lowercased().split(separator: "/", omittingEmptySubsequences: false)
        // Some letters outside ASCII have a lower case in it.
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
            guard type != nil else { throw Self.invalid(text) }
            self.init(type: type, subtype: String(parts[1]), suffix: nil)
        }
        let stars = [self.type, subtype, suffix].compactMap { $0 }
        guard stars.allSatisfy({ !$0.isEmpty && !$0.contains("*") }), suffix?.contains("+") != true else {
            throw Self.invalid(text)
        }
    }

    /// The pattern for one type, whatever its parameters.
    public init(_ mediaType: MediaType) {
        self.init(type: mediaType.type, subtype: mediaType.subtype, suffix: nil)
    }

    init(type: String?, subtype: String?, suffix: String?) {
        self.type = type
        self.subtype = subtype
        self.suffix = suffix
        breadth =
            switch (type, subtype, suffix) {
            case (_, _?, _): .exact
            case (_?, nil, _?): .typeAndSuffix
            case (nil, nil, _?): .suffix
            case (_?, nil, nil): .type
            case (nil, nil, nil): .any
            }
    }

    /// Every pattern that matches a type, the most specific one first.
    static func all(matching mediaType: MediaType) -> [MediaPattern] {
        var patterns = [MediaPattern(mediaType)]
        if let suffix = mediaType.suffix {
            patterns.append(MediaPattern(type: mediaType.type, subtype: nil, suffix: suffix))
            patterns.append(MediaPattern(type: nil, subtype: nil, suffix: suffix))
        }
        patterns.append(MediaPattern(type: mediaType.type, subtype: nil, suffix: nil))
        patterns.append(.any)
        return patterns
    }

    /// Whether the pattern is for a type.
    public func matches(_ mediaType: MediaType) -> Bool {
        (type == nil || type == mediaType.type) && (subtype == nil || subtype == mediaType.subtype)
            && (suffix == nil || suffix == mediaType.suffix)
    }

    /// Whether the first is less specific than the second; of two that are equally specific, by their text.
    public static func < (one: MediaPattern, other: MediaPattern) -> Bool {
        one.breadth == other.breadth
            ? one.description < other.description : one.breadth.rawValue < other.breadth.rawValue
    }

    /// The pattern as it is compared.
    public var description: String { "\(type ?? "*")/\(subtype ?? "*")\(suffix.map { "+\($0)" } ?? "")" }

    private static func invalid(_ text: String) -> RequestFailure {
        RequestFailure(
            .invalidRequest, "“\(RequestFailure.shown(text))” is no pattern for media types.",
            remedy: "Write type/subtype, type/*, */*, or a suffix as in */*+json.")
    }
}
