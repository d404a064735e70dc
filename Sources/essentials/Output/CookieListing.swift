import FoundationEssentials
import ServiceEssentials

/// The output of `essentials cookies`.
struct CookieListing {
    let cookies: [Cookie]
    /// Whether values are printed.
    let showsValues: Bool

    /// A number of cookies in words.
    static func number(_ count: Int) -> String { count == 1 ? "1 cookie" : "\(count) cookies" }

    // MARK: Text

    /// A line with titles and one for each cookie, or a sentence if there is no cookie.
    var table: [String] {
        guard !cookies.isEmpty else { return ["There are no cookies."] }
        let titles = ["NAME", "DOMAIN", "PATH", "EXPIRES", "FLAGS"] + (showsValues ? ["VALUE"] : [])
        return TextTable.lines([titles] + cookies.map(row))
    }

    private func row(_ cookie: Cookie) -> [String] {
        let flags = [
            cookie.isSecure ? "secure" : nil, cookie.isHTTPOnly ? "httpOnly" : nil,
            cookie.isHostOnly ? nil : "subdomains",
        ].compactMap(\.self)
        return [
            cookie.name, cookie.domain, cookie.path, cookie.expiry ?? "session",
            flags.isEmpty ? "-" : flags.joined(separator: ","),
        ] + (showsValues ? [cookie.value] : [])
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
