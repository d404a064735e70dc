/// A URL reference: an absolute URL, or a part of one that is completed by a base URL (RFC 3986, 4.1).
///
/// It is strict where parsers could disagree: `http:path` is refused because it has no host (RFC 3986, 5.2.2), a colon
/// in the first segment ends a scheme, a backslash is not a slash, and a `%` begins an escape. It is lenient where the
/// meaning is clear: a space and each non-ASCII byte in the path and query are percent-encoded, regardless of the
/// charset. The fragment is dropped.
///
/// ```swift
/// try URLReference("../g?y").resolved(against: RequestURL("http://a/b/c/d;p?q"))     // http://a/b/g?y
/// ```
package struct URLReference: Sendable, Hashable {
    /// The reason why a reference has no `http` or `https` URL. The texts contain no query and no credentials.
    package enum Fault: Error, Sendable, Hashable {
        /// The reference is not a valid URL. The text is a sentence that says why.
        case invalid(String)
        /// The reference has a scheme other than `http` and `https`. The text is the scheme, or “…” if it could be a
        /// user name.
        case otherScheme(String)
        /// The reference contains a user name or a password.
        case credentials
    }

    private static let slash = UInt8(ascii: "/")
    private static let questionMark = UInt8(ascii: "?")

    /// The bytes before the fragment.
    private let bytes: ArraySlice<UInt8>

    /// Creates a reference from bytes in any charset, such as those of a header field.
    package init(_ bytes: [UInt8]) { self.bytes = bytes.prefix { $0 != UInt8(ascii: "#") } }

    /// Creates a reference from text.
    package init(_ text: some StringProtocol) { self.init(Array(text.utf8)) }

    /// Resolves the reference to an absolute URL (RFC 3986, 5.2.2 and 5.2.4). An empty reference is the base itself.
    package func resolved(against base: RequestURL) throws(Fault) -> RequestURL {
        let (scheme, rest) = try readScheme()
        if rest.starts(with: [Self.slash, Self.slash]) {
            let authority = rest.dropFirst(2).prefix { $0 != Self.slash && $0 != Self.questionMark }
            let origin = try Self.readOrigin(scheme: scheme ?? base.origin.scheme, authority: authority)
            return try Self.url(origin, Self.encoded(rest[authority.endIndex...]))
        }
        guard scheme == nil else { throw .invalid("It has a scheme without a host.") }
        guard let first = rest.first else { return base }
        let encoded = Self.encoded(rest)
        if first == Self.slash { return try Self.url(base.origin, encoded) }
        if first == Self.questionMark { return try Self.url(base.origin, base.path + encoded) }
        // The base's path begins with a slash.
        let directory = base.path[...(base.path.lastIndex(of: "/") ?? base.path.startIndex)]
        return try Self.url(base.origin, directory + encoded)
    }

    private func readScheme() throws(Fault) -> (Origin.Scheme?, ArraySlice<UInt8>) {
        let name = bytes.prefix { $0 != UInt8(ascii: ":") && $0 != Self.slash && $0 != Self.questionMark }
        guard name.endIndex < bytes.endIndex, bytes[name.endIndex] == UInt8(ascii: ":") else { return (nil, bytes) }
        guard let first = name.first, first.isASCIILetter, name.allSatisfy(Self.isSchemeByte) else {
            throw .invalid("The text before the colon is not a scheme.")
        }
        let text = String(decoding: name, as: UTF8.self)
        guard let scheme = Origin.Scheme(rawValue: text.lowercased()) else {
            // Without a scheme, the text before the colon can be a user name.
            throw .otherScheme(bytes.contains(UInt8(ascii: "@")) ? "…" : RequestFailure.shown(text))
        }
        return (scheme, bytes[(name.endIndex + 1)...])
    }

    private static func readOrigin(scheme: Origin.Scheme, authority: ArraySlice<UInt8>) throws(Fault) -> Origin {
        guard !authority.contains(UInt8(ascii: "@")) else { throw .credentials }
        do {
            return try RequestURL("\(scheme.rawValue)://\(String(decoding: authority, as: UTF8.self))").origin
        } catch {
            throw .invalid(error.message)
        }
    }

    private static func url(_ origin: Origin, _ path: String) throws(Fault) -> RequestURL {
        do {
            return try RequestURL(origin: origin, path: path)
        } catch {
            throw .invalid(error.message)
        }
    }

    private static func encoded(_ bytes: ArraySlice<UInt8>) -> String {
        var ascii: [UInt8] = []
        ascii.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte < 0x80 { ascii.append(byte) } else { ascii.append(percentEncoded: byte) }
        }
        return String(decoding: ascii, as: UTF8.self)
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "+-.".utf8.contains(byte)
    }
}

extension URLReference: CustomReflectable {
    /// The number of bytes, because a reference can contain credentials and a query.
    package var customMirror: Mirror { Mirror(self, children: ["bytes": bytes.count]) }
}
