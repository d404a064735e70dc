import EssentialsHTTP

/// Brings whole URLs into the form in which they are compared (RFC 3986, 6.2.2 and 6.2.3).
///
/// Scheme and host are in lower case. Host names are A-labels; names outside ASCII are refused. The default port, the
/// fragment and dot segments are removed, and an empty path becomes `/`. Escapes are in upper case, and those of
/// unreserved characters are decoded. The order of query items counts, and an empty query differs from none.
package enum CanonicalRules {
    /// The canonical text of a URL.
    ///
    /// - Throws: `invalidRequest` if this is no `http` or `https` URL, or if it contains credentials.
    static func canonical(_ text: String) throws(RequestFailure) -> String { canonical(try RequestURL(text)) }

    /// The canonical text of a URL.
    static func canonical(_ url: RequestURL) -> String { url.origin.description + target(url.target) }

    /// The canonical form of a path with a query.
    package static func target(_ target: String) -> String {
        guard target.utf8.contains(UInt8(ascii: "%")) else { return target }
        let text = Array(target.utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            guard let byte = escapedByte(text[index...]) else {
                bytes.append(text[index])
                index += 1
                continue
            }
            if byte.isURLUnreserved { bytes.append(byte) } else { bytes.append(percentEncoded: byte) }
            index += 3
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The byte of the escape with which a text begins; `nil` if it does not begin with an escape.
    package static func escapedByte(_ text: some Collection<UInt8>) -> UInt8? {
        var rest = text.makeIterator()
        guard rest.next() == UInt8(ascii: "%"), let high = rest.next()?.hexDigitValue,
            let low = rest.next()?.hexDigitValue
        else { return nil }
        return high << 4 | low
    }
}
