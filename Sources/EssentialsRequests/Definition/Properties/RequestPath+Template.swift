extension RequestPath {
    /// Appends a template whose placeholders are replaced with values.
    mutating func append(
        template: String, _ values: KeyValuePairs<String, any CustomStringConvertible & Sendable>
    ) {
        var unused = values.map(\.key)
        for segment in template.utf8.split(separator: UInt8(ascii: "/")) {
            var (text, rest) = (SegmentText(), Substring(segment).utf8)
            var opened = 0
            while let open = rest.firstIndex(of: UInt8(ascii: "{")) {
                guard let close = rest[open...].firstIndex(of: UInt8(ascii: "}")) else {
                    return refuse(
                        "The path template “\(RequestFailure.shown(template))” has a “{” without “}”.",
                        "Write each placeholder as {name}.")
                }
                let name = String(Substring(rest[rest.index(after: open)..<close]))
                guard let value = values.first(where: { $0.key == name })?.value else {
                    return refuse(
                        "The path template “\(RequestFailure.shown(template))” has no value for “\(name)”.",
                        "Add it to the values.")
                }
                if let failure = (value as? RequestPath)?.failure { return refuse(failure) }
                let parts = ValuePart.all(of: value, shown: "{\(name)}")
                guard !parts.isEmpty else {
                    return refuse(
                        "The value for “\(name)” in the path template “\(RequestFailure.shown(template))” is empty.",
                        "Without it the path would name something else. Check where the value comes from.")
                }
                unused.removeAll { $0 == name }
                opened += 1
                text.write(Substring(rest[..<open]))
                text.fill(parts, endingSegmentsIn: &self)
                rest = rest[rest.index(after: close)...]
            }
            guard segment.count(where: { $0 == UInt8(ascii: "}") }) == opened else {
                return refuse(
                    "The path template “\(RequestFailure.shown(template))” has a “}” without “{”.",
                    "Write each placeholder as {name}.")
            }
            text.write(Substring(rest))
            text.end(in: &self)
        }
        if let name = unused.first {
            refuse(
                "The path template “\(RequestFailure.shown(template))” has no placeholder “{\(name)}”.",
                "Correct the name, or remove the value.")
        }
    }
}

/// A value in a literal or a template, or the part of it that is one segment.
private struct ValuePart {
    let text: String
    /// What stands for it in the path's template; `nil` if it is not known whether it is a value.
    let shown: String?

    /// The value, which is one part, or the segments of a path. Empty for an empty value.
    static func all(of value: some CustomStringConvertible, shown: String) -> [ValuePart] {
        guard let path = value as? RequestPath else {
            let text = value.description
            return text.isEmpty ? [] : [ValuePart(text: text, shown: shown)]
        }
        let components = path.components
        guard let template = path.template.segments(of: path.encoded) else {
            return components.map { ValuePart(text: $0, shown: nil) }
        }
        return zip(components, template).map { ValuePart(text: $0, shown: $1) }
    }
}

/// A segment of a literal or a template that is not complete yet.
private struct SegmentText {
    private var text = ""
    /// The text in the path's template, if the segment holds a value.
    private var shown = ""
    private var (holdsValue, isUnknown) = (false, false)

    /// Appends written text.
    mutating func write(_ written: Substring) {
        text += written
        if holdsValue { SegmentCoding.append(String(written), to: &shown) }
    }

    /// Appends a value. Each part but the last one ends a segment.
    mutating func fill(_ parts: [ValuePart], endingSegmentsIn path: inout RequestPath) {
        for (index, part) in parts.enumerated() {
            if index > 0 { end(in: &path) }
            if !holdsValue { SegmentCoding.append(text, to: &shown) }
            text += part.text
            holdsValue = true
            if let more = part.shown { shown += more } else { isUnknown = true }
        }
    }

    /// Appends the segment to a path, and begins an empty one.
    mutating func end(in path: inout RequestPath) {
        let kind: PathTemplate.Segment
        if isUnknown {
            kind = .unknown
        } else if holdsValue {
            kind = shown == PathTemplate.nameless ? .value : .named(shown)
        } else {
            kind = .written
        }
        path.append(component: text, kind)
        self = SegmentText()
    }
}

extension RequestPath: ExpressibleByStringInterpolation {
    /// Text and values of a path literal. Text is split at `/`; a value is never split.
    public struct StringInterpolation: StringInterpolationProtocol {
        private var path = RequestPath()
        /// The segment that is not complete yet.
        private var segment = SegmentText()

        /// Creates an empty literal.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends written text.
        public mutating func appendLiteral(_ literal: String) {
            if literal.utf8.contains(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") }) {
                path.refusePlaceholder(in: literal)
            }
            for (index, part) in literal.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
                .enumerated()
            {
                if index > 0 { segment.end(in: &path) }
                segment.write(Substring(part))
            }
        }

        /// Appends a value, which stays in one segment, or a path, which keeps its segments.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            if let failure = (value as? RequestPath)?.failure { path.refuse(failure) }
            let parts = ValuePart.all(of: value, shown: PathTemplate.nameless)
            if parts.isEmpty {
                path.refuse(
                    "A value in a path is empty.",
                    "Without it the path would name something else. Check where the value comes from.")
            }
            segment.fill(parts, endingSegmentsIn: &path)
        }

        /// The path with its last segment.
        fileprivate var complete: RequestPath {
            var copy = self
            copy.segment.end(in: &copy.path)
            return copy.path
        }
    }

    /// Creates a path from a literal with values.
    public init(stringInterpolation: StringInterpolation) { self = stringInterpolation.complete }

    /// Creates a path from a literal, which is split at `/`. Its text is not percent-encoded: a `%` is sent as `%25`.
    public init(stringLiteral text: String) { append(text: text) }
}

/// Builds a ``RequestPath`` from components, each of which is one segment.
///
/// ```swift
/// RequestPath {
///     "users"
///     id
///     if let revision { "revisions"; revision }
/// }
/// ```
@resultBuilder
public enum RequestPathBuilder {
    /// A value, which is one segment, or a path. `nil` and empty text are dropped. A text that is no literal may be a value or not,
    /// so the path has no ``RequestPath/urlTemplate`` then.
    @inlinable
    @_disfavoredOverload  // Written text is a `StaticString`.
    public static func buildExpression(_ value: (some CustomStringConvertible)?) -> RequestPath {
        (value as? RequestPath) ?? RequestPath(component: value?.description, isText: value is any StringProtocol)
    }

    /// Written text, which is one segment.
    public static func buildExpression(_ text: StaticString) -> RequestPath { RequestPath(written: text) }

    /// Several values, each of which is one segment.
    public static func buildExpression(_ values: [some CustomStringConvertible]) -> RequestPath {
        values.reduce(into: RequestPath()) { $0.append(value: $1) }
    }

    /// Several values, each of which is one segment. `nil` is dropped.
    public static func buildExpression(_ values: [some CustomStringConvertible]?) -> RequestPath {
        values.map { buildExpression($0) } ?? RequestPath()
    }

    /// A path.
    @_disfavoredOverload  // Written text is a `StaticString`.
    public static func buildExpression(_ path: RequestPath) -> RequestPath { path }
    /// No component.
    public static func buildBlock() -> RequestPath { RequestPath() }
    /// The first statement.
    public static func buildPartialBlock(first: consuming RequestPath) -> RequestPath { first }
    /// The statements so far and the next one.
    @inlinable
    public static func buildPartialBlock(accumulated: consuming RequestPath, next: RequestPath) -> RequestPath {
        accumulated.append(next)
        return accumulated
    }
    /// An `if` without `else`.
    public static func buildOptional(_ path: RequestPath?) -> RequestPath { path ?? RequestPath() }
    /// The first branch.
    public static func buildEither(first path: RequestPath) -> RequestPath { path }
    /// The second branch.
    public static func buildEither(second path: RequestPath) -> RequestPath { path }
    /// A loop.
    public static func buildArray(_ paths: [RequestPath]) -> RequestPath {
        paths.reduce(into: RequestPath()) { $0.append($1) }
    }
    /// An `if #available`.
    public static func buildLimitedAvailability(_ path: RequestPath) -> RequestPath { path }
}
