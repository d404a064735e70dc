import FoundationEssentials
import ServiceEssentials

/// The output of `essentials cookies`.
struct CookieListing {
    /// The widest column that is padded. Longer texts push the rest of their line to the right.
    private static let maximumWidth = 40

    let cookies: [Cookie]
    /// Whether values are printed.
    let showsValues: Bool

    /// A number of cookies in words.
    static func number(_ count: Int) -> String { count == 1 ? "1 cookie" : "\(count) cookies" }

    // MARK: Text

    /// A line with titles and one for each cookie, or a sentence if there is no cookie.
    var table: [String] {
        guard !cookies.isEmpty else { return ["There are no cookies."] }
        let rows = [["NAME", "DOMAIN", "PATH", "EXPIRES", "FLAGS"] + (showsValues ? ["VALUE"] : [])] + cookies.map(row)
        let widths = rows[0].indices.map { column in
            rows.reduce(0) { max($0, min($1[column].count, Self.maximumWidth)) }
        }
        return rows.map { row in
            let padded = zip(row, widths).dropLast().map { $0.padded(to: $1) }
            return (padded + row.suffix(1)).joined(separator: "  ")
        }
    }

    private func row(_ cookie: Cookie) -> [String] {
        let flags = [
            cookie.isSecure ? "secure" : nil, cookie.isHTTPOnly ? "httpOnly" : nil,
            cookie.isHostOnly ? nil : "subdomains",
        ].compactMap(\.self)
        return [
            VisibleText.line(cookie.name), VisibleText.line(cookie.domain), VisibleText.line(cookie.path),
            cookie.expiry ?? "session", flags.isEmpty ? "-" : flags.joined(separator: ","),
        ] + (showsValues ? [VisibleText.line(cookie.value)] : [])
    }

    // MARK: JSON

    private struct Object: Encodable {
        private enum CodingKeys: CodingKey { case name, domain, path, expires, secure, httpOnly, subdomains, value }

        let cookie: Cookie
        let showsValue: Bool

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: CodingKeys.self)
            try object.encode(cookie.name, forKey: .name)
            try object.encode(cookie.domain, forKey: .domain)
            try object.encode(cookie.path, forKey: .path)
            try object.encode(cookie.expiry, forKey: .expires)
            try object.encode(cookie.isSecure, forKey: .secure)
            try object.encode(cookie.isHTTPOnly, forKey: .httpOnly)
            try object.encode(!cookie.isHostOnly, forKey: .subdomains)
            if showsValue { try object.encode(cookie.value, forKey: .value) }
        }
    }

    /// A JSON object for each cookie.
    var objects: [String] { cookies.map { OneLine.json(Object(cookie: $0, showsValue: showsValues)) } }
}

extension Cookie {
    /// The expiry in UTC, in ISO 8601 format; `nil` for a session cookie.
    fileprivate var expiry: String? { expires?.formatted(.iso8601) }
}
