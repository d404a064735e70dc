/// Resolves the URL reference of a `Location` field against the URL of the request (RFC 3986, 4.1 and 5.2).
///
/// It is strict where parsers could disagree: `http:path` is refused because it has no host, a colon in the first
/// segment ends a scheme, a backslash is not a slash, and a `%` begins an escape. It is lenient where the meaning is
/// clear: a space and each non-ASCII byte in the path and query are percent-encoded, regardless of the charset. The
/// fragment is dropped.
enum RelativeReference {
    private static let slash = UInt8(ascii: "/")
    private static let questionMark = UInt8(ascii: "?")

    /// Resolves a reference to an absolute URL. An empty reference is the base itself.
    ///
    /// - Throws: `protocolViolation` if the reference is not a valid URL; `redirectRefused` if it contains credentials
    ///   or has a scheme other than `http` and `https`. The messages contain no query and no credentials.
    static func resolve(_ reference: [UInt8], against base: RequestURL) throws(RequestFailure) -> RequestURL {
        let whole = reference.prefix { $0 != UInt8(ascii: "#") }
        let (scheme, rest) = try readScheme(whole, base: base)
        if rest.starts(with: [slash, slash]) {
            let authority = rest.dropFirst(2).prefix { $0 != slash && $0 != questionMark }
            let origin = try readOrigin(scheme: scheme ?? base.origin.scheme, authority: authority, base: base)
            return try url(origin, encoded(rest[authority.endIndex...]), base: base)
        }
        guard scheme == nil else { throw noURL("It has a scheme without a host.", base: base) }
        guard let first = rest.first else { return base }
        if first == slash { return try url(base.origin, encoded(rest), base: base) }
        if first == questionMark { return try url(base.origin, base.path + encoded(rest), base: base) }
        // The base's path begins with a slash.
        let directory = base.path[...(base.path.lastIndex(of: "/") ?? base.path.startIndex)]
        return try url(base.origin, directory + encoded(rest), base: base)
    }

    private static func readScheme(
        _ whole: ArraySlice<UInt8>, base: RequestURL
    ) throws(RequestFailure) -> (Origin.Scheme?, ArraySlice<UInt8>) {
        let name = whole.prefix { $0 != UInt8(ascii: ":") && $0 != slash && $0 != questionMark }
        guard name.endIndex < whole.endIndex, whole[name.endIndex] == UInt8(ascii: ":") else { return (nil, whole) }
        guard let first = name.first, first.isASCIILetter, name.allSatisfy(isSchemeByte) else {
            throw noURL("The text before the colon is not a scheme.", base: base)
        }
        let text = String(decoding: name, as: UTF8.self)
        guard let scheme = Origin.Scheme(rawValue: text.lowercased()) else {
            // Without a scheme, the text before the colon can be a user name.
            let shown = whole.contains(UInt8(ascii: "@")) ? "…" : RequestFailure.shown(text)
            throw RequestFailure(
                .redirectRefused, "\(base.origin) redirects to a URL with the scheme “\(shown)”.",
                remedy: "Only http and https are followed; if you trust the URL, open it by other means.",
                phase: .receiving, host: base.origin.host.text)
        }
        return (scheme, whole[(name.endIndex + 1)...])
    }

    private static func readOrigin(
        scheme: Origin.Scheme, authority: ArraySlice<UInt8>, base: RequestURL
    ) throws(RequestFailure) -> Origin {
        guard !authority.contains(UInt8(ascii: "@")) else {
            throw RequestFailure(
                .redirectRefused, "\(base.origin) redirects to a URL that contains credentials.",
                remedy: "If you trust the target, request it directly with an Authorization header.",
                phase: .receiving, host: base.origin.host.text)
        }
        do {
            return try RequestURL("\(scheme.rawValue)://\(String(decoding: authority, as: UTF8.self))").origin
        } catch {
            throw noURL(error.message, base: base)
        }
    }

    private static func url(_ origin: Origin, _ path: String, base: RequestURL) throws(RequestFailure) -> RequestURL {
        do {
            return try RequestURL(origin: origin, path: path)
        } catch {
            throw noURL(error.message, base: base)
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

    private static func noURL(_ why: String, base: RequestURL) -> RequestFailure {
        RequestFailure(
            .protocolViolation, "\(base.origin) redirects to an invalid URL. \(why)",
            remedy: "Report this to the operators of the server: the Location field must contain a URL (RFC 3986).",
            phase: .receiving, host: base.origin.host.text)
    }
}
