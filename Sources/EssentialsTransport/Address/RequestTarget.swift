/// Path and query in origin form (RFC 9112, section 3.2.1).
enum RequestTarget {
    /// Parses and normalizes the part of a URL after the authority.
    static func read(_ text: Substring) throws(RequestFailure) -> String {
        if text.utf8.first == UInt8(ascii: "/"), isComplete(text.utf8) { return String(text) }
        // The search compares bytes, because a delimiter followed by a combining mark is a different `Character`.
        let whole = text.utf8.prefix { $0 != UInt8(ascii: "#") }
        let path = whole.prefix { $0 != UInt8(ascii: "?") }
        let query = whole[path.endIndex...]
        return withoutDotSegments(try escaped(path, isPath: true)) + (try escaped(query, isPath: false))
    }

    /// Joins a path to a directory with one slash between them, or returns `nil` if escaping, validation or removal
    /// of dot segments is needed.
    ///
    /// - Parameters:
    ///   - path: The path. It may begin with a slash and may have a query.
    ///   - directory: A normalized target.
    static func joined(_ path: String, under directory: String) -> String? {
        var (path, directory) = (path, directory)
        return path.withUTF8 { path in directory.withUTF8 { directory in joined(path, under: directory) } }
    }

    private static func joined(
        _ path: UnsafeBufferPointer<UInt8>, under directory: UnsafeBufferPointer<UInt8>
    ) -> String? {
        let slash = UInt8(ascii: "/")
        let rest = UnsafeBufferPointer(rebasing: path.first == slash ? path.dropFirst() : path[...])
        // A colon may follow a scheme, two slashes begin an authority, and a query alone extends the whole path:
        // these need the full parser.
        guard let first = rest.first, first != slash, first != UInt8(ascii: "?"), let last = directory.last,
            isComplete(rest, after: slash), !rest.contains(UInt8(ascii: ":")), !directory.contains(UInt8(ascii: "?"))
        else { return nil }
        let isSeparated = last == slash
        return String(unsafeUninitializedCapacity: directory.count + 1 + rest.count) { bytes in
            var count = bytes.update(fromContentsOf: directory)
            if !isSeparated {
                bytes[count] = slash
                count += 1
            }
            return UnsafeMutableBufferPointer(rebasing: bytes[count...]).update(fromContentsOf: rest) + count
        }
    }

    /// Joins the parts of a path and a query to a directory with one slash between them, or returns `nil` if a part
    /// begins or ends with a slash, or needs escaping, validation or removal of dot segments.
    ///
    /// - Parameters:
    ///   - first: The first part of the path, which can be empty.
    ///   - second: The other part of the path, which can be empty.
    ///   - endsWithSlash: Whether a slash follows the path.
    ///   - query: A valid, percent-encoded query without its `?`. It can be empty.
    ///   - directory: A normalized target.
    static func joined(
        _ first: String, _ second: String, endsWithSlash: Bool, query: String, under directory: String
    ) -> String? {
        var (first, second, query, directory) = (first, second, query, directory)
        return first.withUTF8 { first in
            second.withUTF8 { second in
                query.withUTF8 { query in
                    directory.withUTF8 { directory in
                        joined(first, second, endsWithSlash: endsWithSlash, query: query, under: directory)
                    }
                }
            }
        }
    }

    private static func joined(
        _ first: UnsafeBufferPointer<UInt8>, _ second: UnsafeBufferPointer<UInt8>, endsWithSlash: Bool,
        query: UnsafeBufferPointer<UInt8>, under directory: UnsafeBufferPointer<UInt8>
    ) -> String? {
        let (slash, questionMark) = (UInt8(ascii: "/"), UInt8(ascii: "?"))
        guard first.count + second.count > 0, isPlain(first), isPlain(second), let last = directory.last,
            !directory.contains(questionMark)
        else { return nil }
        // Four more bytes are written: a slash before each part, one after the path, and the question mark.
        let size = directory.count + first.count + second.count + query.count + 4
        return String(unsafeUninitializedCapacity: size) { bytes in
            var count = bytes.update(fromContentsOf: directory)
            func append(_ part: UnsafeBufferPointer<UInt8>) {
                count += UnsafeMutableBufferPointer(rebasing: bytes[count...]).update(fromContentsOf: part)
            }
            func append(_ byte: UInt8) {
                bytes[count] = byte
                count += 1
            }
            if last != slash { append(slash) }
            append(first)
            if !first.isEmpty, !second.isEmpty { append(slash) }
            append(second)
            if endsWithSlash { append(slash) }
            if !query.isEmpty {
                append(questionMark)
                append(query)
            }
            return count
        }
    }

    /// Whether bytes are a path without a slash at its beginning and end that is already normalized.
    private static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let slash = UInt8(ascii: "/")
        return bytes.first != slash && bytes.last != slash && isComplete(bytes, after: slash)
            && !bytes.contains(UInt8(ascii: ":")) && !bytes.contains(UInt8(ascii: "?"))
    }

    /// Whether the part after the authority is already normalized, as it usually is: nothing needs to be
    /// escaped, validated or removed.
    private static func isComplete(_ text: Substring.UTF8View) -> Bool {
        // Iterating with the view's own indices takes three times as long.
        text.withContiguousStorageIfAvailable { isComplete($0, after: 0) } ?? false
    }

    private static func isComplete(_ bytes: UnsafeBufferPointer<UInt8>, after first: UInt8) -> Bool {
        var (previous, isPath) = (first, true)
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "."):
                if isPath, previous == UInt8(ascii: "/") { return false }
            case UInt8(ascii: "?"): isPath = false
            // Letters, digits and the punctuation that is allowed without further checks (RFC
            // 3986, sections 2.2 and 2.3).
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "@")...UInt8(ascii: "Z"),
                UInt8(ascii: "&")...UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "_"), UInt8(ascii: "~"),
                UInt8(ascii: "!"), UInt8(ascii: "$"):
                break
            default: return false
            }
            previous = byte
        }
        return true
    }

    /// Percent-encodes everything except the unreserved characters (RFC 3986, section 2.3).
    static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte.isURLUnreserved { bytes.append(byte) } else { bytes.append(percentEncoded: byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Escapes what RFC 3986, sections 3.3 and 3.4, does not allow. Brackets stay in queries, where many servers read them
    /// as parts of names.
    private static func escaped(_ text: Substring.UTF8View, isPath: Bool) throws(RequestFailure) -> String {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case 0...0x1f, 0x7f:
                throw RequestFailure(
                    .invalidRequest, "The URL has a control character (byte \(byte)).",
                    remedy: "Percent-encode it, or remove a line break left over from reading the URL.")
            case UInt8(ascii: "%"):
                guard rest.prefix(2).count == 2, rest.prefix(2).allSatisfy({ $0.hexDigitValue != nil }) else {
                    throw RequestFailure(
                        .invalidRequest, "The URL has a “%” without two hexadecimal digits.",
                        remedy: "Write a percent sign itself as %25.")
                }
                bytes.append(byte)
            case 0x80..., UInt8(ascii: " "), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"),
                UInt8(ascii: "\\"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"),
                UInt8(ascii: "}"):
                bytes.append(percentEncoded: byte)
            case UInt8(ascii: "["), UInt8(ascii: "]"):
                if isPath { bytes.append(percentEncoded: byte) } else { bytes.append(byte) }
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Removes dot segments from an absolute path (RFC 3986, section 5.2.4). An escaped dot counts as a dot,
    /// because servers decode it.
    private static func withoutDotSegments(_ path: String) -> String {
        guard path.hasPrefix("/") else { return path.isEmpty ? "/" : withoutDotSegments("/" + path) }
        var kept: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            let plain = segment.lowercased().replacing("%2e", with: ".")
            if plain == ".." { _ = kept.popLast() }
            if plain == "." || plain == ".." {
                if isLast { kept.append("") }
            } else {
                kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/")
    }
}
