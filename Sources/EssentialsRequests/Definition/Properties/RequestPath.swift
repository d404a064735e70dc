import EssentialsHTTP

/// The path of a definition below its endpoint.
///
/// ```swift
/// let fixed: RequestPath = "users/archive"               // two segments
/// let posts: RequestPath = "users/\(id)/posts"           // the value is one segment, whatever it contains
/// let named = RequestPath(template: "users/{id}/posts", ["id": id])
/// let parts = RequestPath { "users"; id; "posts" }
/// ```
///
/// Values become exactly one segment: a `/` in a value is escaped as `%2F`, like every other character that is not
/// allowed in a segment (RFC 3986, 3.3). Only the written text of a literal or a template is split at `/`. Empty
/// segments are dropped. A value that is `.` or `..` would change the path, so the request fails as `invalidRequest`.
/// A value that is itself a path keeps its segments, and is not escaped again.
public struct RequestPath: Sendable {
    /// The percent-encoded segments with a slash between them, without a slash at the beginning or the end.
    public private(set) var encoded = ""
    /// Which segments hold values.
    private(set) var template = PathTemplate()
    /// Why the path is invalid; `nil` if it is valid. It is thrown when the request is built.
    private(set) var failure: RequestFailure?

    /// Creates an empty path.
    public init() {}

    /// Creates a path of one segment for each value and each element of an array. Values that are `nil` or empty are
    /// dropped. A text is one segment, also if it contains a `/`, but a path that consists of one literal is split.
    public init(_ components: (any CustomStringConvertible & Sendable)?...) {
        for component in components { component?.forEachValue { append(value: $0) } }
    }

    /// Creates a path of at most one segment.
    @usableFromInline init(component: String?, isText: Bool) {
        if let component { append(component: component, isText ? .unknown : .value) }
    }

    /// Creates a path of at most one segment of written text.
    init(written text: StaticString) { append(component: text.description, .written) }

    /// Creates a path from components; see ``RequestPathBuilder``.
    public init(@RequestPathBuilder _ content: () -> RequestPath) { self = content() }

    /// Creates a path from a template such as `users/{id}/posts`.
    ///
    /// A placeholder is a name in braces, and can be a whole segment or a part of one. A request whose template names a
    /// missing value, or does not name a given one, fails as `invalidRequest`.
    ///
    /// - Parameters:
    ///   - template: The template, which is split at `/`.
    ///   - values: The value for each placeholder.
    public init(template: String, _ values: KeyValuePairs<String, any CustomStringConvertible & Sendable>) {
        append(template: template, values)
    }

    /// Whether the path has no segments.
    public var isEmpty: Bool { encoded.isEmpty }

    /// The path with its values replaced, such as `/users/{id}`; see ``DataRequest/urlTemplate``.
    ///
    /// A value of a literal is `{}`, a placeholder of a template is as it was written, and a component is `{}` unless it is text.
    /// A text that was passed as a component may be a value or not, and then the path has no template: `nil`. The text of a
    /// template is taken as written, so do not put values into it.
    public var urlTemplate: String? { failure == nil ? template.text(of: encoded) : nil }

    /// The segments, decoded.
    public var components: [String] {
        encoded.utf8.split(separator: UInt8(ascii: "/")).map {
            String(decoding: PercentCoding.decoded($0[...], plusIsSpace: false), as: UTF8.self)
        }
    }

    /// The encoded path.
    ///
    /// - Throws: `invalidRequest` if a part of it is invalid.
    func checked() throws(RequestFailure) -> String {
        if let failure { throw failure }
        return encoded
    }

    /// Appends a path.
    public mutating func append(_ path: RequestPath) {
        if failure == nil { failure = path.failure }
        guard !path.isEmpty else { return }
        template.append(path.template)
        guard !isEmpty else {
            encoded = path.encoded
            return
        }
        encoded += "/"
        encoded += path.encoded
    }

    /// Appends a value as one segment, or the segments of a path, which are escaped already.
    mutating func append(value: some CustomStringConvertible) {
        if let path = value as? RequestPath {
            append(path)
        } else {
            append(component: value.description, value is any StringProtocol ? .unknown : .value)
        }
    }

    /// Appends one segment.
    ///
    /// - Parameters:
    ///   - component: Its text. An empty one is dropped.
    ///   - segment: What the segment holds.
    mutating func append(component: String, _ segment: PathTemplate.Segment) {
        guard !component.isEmpty else { return }
        guard component != ".", component != ".." else {
            return refuse(
                "The path component “\(component)” would change the path instead of naming a part of it.",
                "Check where the value comes from.")
        }
        template.append(segment)
        if !encoded.isEmpty { encoded += "/" }
        SegmentCoding.append(component, to: &encoded)
    }

    /// Appends written text, which is split at `/`.
    mutating func append(text: String) {
        guard !text.utf8.contains(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") }) else {
            return refusePlaceholder(in: text)
        }
        for segment in text.utf8.split(separator: UInt8(ascii: "/")) {
            append(component: String(Substring(segment)), .written)
        }
    }

    mutating func refusePlaceholder(in text: String) {
        refuse(
            "The path “\(RequestFailure.shown(text))” has a placeholder, but there is no value for it.",
            "Write RequestPath(template: \"users/{id}\", [\"id\": id]), or \\(id) in a literal.")
    }

    mutating func refuse(_ message: String, _ remedy: String) {
        refuse(RequestFailure(.invalidRequest, message, remedy: remedy))
    }

    mutating func refuse(_ problem: RequestFailure) {
        if failure == nil { failure = problem }
    }
}

extension CustomStringConvertible {
    /// Calls the closure with the value, or with each element of an array.
    func forEachValue(_ body: (any CustomStringConvertible) -> Void) {
        // Most values are texts and numbers, for which the dynamic cast would cost more than the rest.
        if Self.self != String.self, Self.self != Int.self, let values = self as? [any CustomStringConvertible] {
            for value in values { body(value) }
        } else {
            body(self)
        }
    }
}

/// Encodes one path segment.
enum SegmentCoding {
    /// Appends the text with everything escaped that is not allowed in a segment (RFC 3986, 3.3).
    static func append(_ component: String, to text: inout String) {
        var copy = component
        // Iterating the text itself takes longer.
        guard !copy.withUTF8({ $0.allSatisfy(isAllowed) }) else {
            text += component
            return
        }
        var bytes: [UInt8] = []
        for byte in component.utf8 {
            if isAllowed(byte) { bytes.append(byte) } else { bytes.append(percentEncoded: byte) }
        }
        text += String(decoding: bytes, as: UTF8.self)
    }

    /// The bytes of `pchar` without escapes. The semicolon is escaped, because some servers cut the segment there.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte.isURLUnreserved || "!$&'()*+,=:@".utf8.contains(byte)
    }
}

/// Paths are equal if their segments are, whatever they were made from.
extension RequestPath: Hashable {
    /// Compares the encoded paths, or the failures.
    public static func == (one: RequestPath, other: RequestPath) -> Bool {
        one.encoded == other.encoded && one.failure == other.failure
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(encoded)
        hasher.combine(failure)
    }
}

extension RequestPath: CustomStringConvertible {
    /// The encoded path.
    public var description: String { encoded }
}

extension RequestPath: Codable {
    /// Decodes an encoded path.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        for segment in text.utf8.split(separator: UInt8(ascii: "/")) {
            append(
                component: String(decoding: PercentCoding.decoded(segment[...], plusIsSpace: false), as: UTF8.self),
                .unknown)
        }
    }

    /// Encodes the encoded path as text.
    ///
    /// - Throws: `invalidRequest` if a part of the path is invalid.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(try checked())
    }
}
