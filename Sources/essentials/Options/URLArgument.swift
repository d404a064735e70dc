import ServiceEssentials

/// A URL on the command line, which may lack its scheme.
enum URLArgument {
    /// Whether the first word of a command line is a URL and not a command: it contains a dot, a slash or a colon, or is
    /// `localhost`.
    static func isURL(_ word: String) -> Bool {
        !word.utf8.starts(with: "-".utf8)
            && (word == "localhost" || word.utf8.contains { ".:/".utf8.contains($0) })
    }

    /// Whether the URL begins with a scheme, such as `https://`.
    static func hasScheme(_ text: String) -> Bool {
        guard let mark = text.firstRange(of: "://") else { return false }
        return text[..<mark.lowerBound].utf8.allSatisfy { $0.isASCIIAlphanumeric || "+-.".utf8.contains($0) }
    }

    /// Returns the URL with the scheme `https` if it has none, and with the host `localhost` if it begins with a port, as in
    /// `:8080/path`.
    ///
    /// - Throws: `invalidRequest` if a URL without a scheme does not begin with `localhost`, an address, or a host with a
    ///   dot or a port. It is more likely a mistake than the name of a host.
    static func absolute(_ text: String) throws(RequestFailure) -> String {
        guard !hasScheme(text) else { return text }
        if isPort(text) { return "https://localhost" + text }
        let authority = text.utf8.prefix { !"/?#".utf8.contains($0) }
        let host = String(Substring(authority))
        guard host == "localhost" || host.utf8.contains(where: { ".:".utf8.contains($0) }) else {
            let isMethod = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].contains(text)
            throw RequestFailure(
                .invalidRequest, "“\(RequestFailure.shown(text))” is not a URL.",
                remedy: isMethod
                    ? "Write the method before the options, as in “essentials \(text) https://host/path -v”."
                    : "Write it as https://host/path, or select an environment for a path below its base URL.")
        }
        return "https://" + text
    }

    /// Whether a URL without a scheme begins with a colon that no second one follows, as in an IPv6 address.
    static func isPort(_ text: String) -> Bool {
        text.utf8.starts(with: ":".utf8) && !text.utf8.starts(with: "::".utf8)
    }

    /// A hint for a failed request whose URL had no scheme: a server on this machine may speak plain http.
    static func hint(for text: String, after failure: RequestFailure) -> String? {
        let reasons: [RequestFailure.Reason] = [.tls, .connection, .protocolViolation]
        // A server that speaks plain http can wait for the rest of what it reads as a request line.
        let isQuiet = failure.reason == .timeout && failure.phase == .handshake
        guard !hasScheme(text), isQuiet || reasons.contains(failure.reason) else { return nil }
        return "hint: The URL has no scheme, so https was used. For plain http, write it as http://HOST."
    }
}
