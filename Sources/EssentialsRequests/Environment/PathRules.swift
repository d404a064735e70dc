import EssentialsHTTP

/// Combines the path of a request with the environment's base URL.
enum PathRules {
    private static let slash = UInt8(ascii: "/")
    private static let questionMark = UInt8(ascii: "?")
    private static let numberSign = UInt8(ascii: "#")
    private static let colon = UInt8(ascii: ":")

    /// The URL for a path.
    ///
    /// - Throws: `invalidRequest` if the path leads to another origin, hides a dot segment or, with `join`, leaves the
    ///   base's path.
    static func url(
        _ path: String, under base: RequestURL, _ resolution: PathResolution
    ) throws(RequestFailure) -> RequestURL {
        switch resolution {
        case .join: try join(path, to: base)
        case .rfc3986: try resolve(path, against: base)
        }
    }

    /// The URL for a path that is a whole URL, which was parsed already.
    ///
    /// - Throws: `invalidRequest` for the same URLs as ``url(_:under:_:)``.
    static func url(
        _ url: RequestURL, under base: RequestURL, _ resolution: PathResolution
    ) throws(RequestFailure) -> RequestURL {
        try HiddenDotSegments.refuse(in: url.target, base)
        try checkOrigin(of: url, base)
        return switch resolution {
        case .join: try checked(url, under: base)
        case .rfc3986: url
        }
    }

    /// Appends a path to the base's path, with one slash between them. The query of the path is kept.
    ///
    /// - Throws: `invalidRequest` if the path leads to another origin, hides a dot segment or leaves the base's path.
    static func join(_ path: String, to base: RequestURL) throws(RequestFailure) -> RequestURL {
        // Most paths are a few plain words. The careful check would take a fifth of the time of a small request.
        if let url = base.joining(plainPath: path) { url } else { try joinCarefully(path, to: base) }
    }

    /// Joins any path; see ``join(_:to:)``.
    static func joinCarefully(_ path: String, to base: RequestURL) throws(RequestFailure) -> RequestURL {
        try HiddenDotSegments.refuse(in: path, base)
        if let url = try absolute(path, base) { return try checked(url, under: base) }
        // Bytes are compared, because a combining mark after a sign would change the character.
        let first = path.utf8.first
        if first == nil || first == questionMark || first == numberSign {
            return try RequestURL(origin: base.origin, path: base.path + path)
        }
        let rest = Substring(path.utf8.drop { $0 == slash })
        return try checked(RequestURL(origin: base.origin, path: directory(of: base) + rest), under: base)
    }

    /// Resolves a path as a relative reference (RFC 3986, 5.2.2).
    ///
    /// - Throws: `invalidRequest` if the path leads to another origin or hides a dot segment.
    static func resolve(_ path: String, against base: RequestURL) throws(RequestFailure) -> RequestURL {
        try HiddenDotSegments.refuse(in: path, base)
        let reference = String(Substring(path.utf8.prefix { $0 != numberSign }))
        if let url = try absolute(reference, base) { return url }
        if scheme(of: reference[...]) != nil {
            // A reference with a scheme has to be an absolute URL. This throws, because it is not one.
            return try RequestURL(reference)
        }
        switch reference.utf8.first {
        case nil: return base
        case slash: return try RequestURL(origin: base.origin, path: reference)
        case questionMark: return try RequestURL(origin: base.origin, path: base.path + reference)
        default:
            // The base's path begins with a slash.
            let directory = base.path[...(base.path.lastIndex(of: "/") ?? base.path.startIndex)]
            return try RequestURL(origin: base.origin, path: directory + reference)
        }
    }

    /// The URL that a path contains; `nil` if the path has no authority.
    ///
    /// - Throws: `invalidRequest` if the URL is invalid or its origin differs from the base's.
    private static func absolute(_ path: String, _ base: RequestURL) throws(RequestFailure) -> RequestURL? {
        let scheme = scheme(of: path[...])
        let rest = scheme.map { path.utf8[$0.endIndex...].dropFirst() } ?? path.utf8[...]
        guard rest.starts(with: [slash, slash]) else { return nil }
        let url = try RequestURL(scheme == nil ? "\(base.origin.scheme.rawValue):\(path)" : path)
        try checkOrigin(of: url, base)
        return url
    }

    private static func checkOrigin(of url: RequestURL, _ base: RequestURL) throws(RequestFailure) {
        guard url.origin == base.origin else {
            throw RequestFailure(
                .invalidRequest, "The path leads to \(url.origin) instead of \(base.origin).",
                remedy: "Give a path below the environment's base URL.", host: base.origin.host.text)
        }
    }

    /// The text before a colon that precedes every slash, question mark and number sign; `nil` if there is none.
    private static func scheme(of path: Substring) -> Substring? {
        let name = path.utf8.prefix { $0 != colon && $0 != slash && $0 != questionMark && $0 != numberSign }
        guard name.endIndex < path.utf8.endIndex, path.utf8[name.endIndex] == colon else { return nil }
        return Substring(name)
    }

    private static func directory(of base: RequestURL) -> String {
        base.path.utf8.last == slash ? String(base.path) : base.path + "/"
    }

    private static func checked(_ url: RequestURL, under base: RequestURL) throws(RequestFailure) -> RequestURL {
        let directory = directory(of: base)
        // Bytes are compared, which are all ASCII here, because comparing characters costs a microsecond.
        guard url.target.utf8.starts(with: directory.utf8) || url.path == directory.dropLast() || url.path == base.path
        else {
            throw RequestFailure(
                .invalidRequest, "The path climbs out of \(directory), the base URL's path.",
                remedy: "Remove “..” segments, or use an environment with a shorter base URL.",
                host: base.origin.host.text)
        }
        return url
    }
}

/// How the URL of a request is made from its path and the environment's base URL.
///
/// | base | path | ``join`` | ``rfc3986`` |
/// |---|---|---|---|
/// | `https://h/v1` | `users` | `/v1/users` | `/users` |
/// | `https://h/v1/` | `users` | `/v1/users` | `/v1/users` |
/// | `https://h/v1/` | `/users` | `/v1/users` | `/users` |
/// | `https://h/v1/` | `../users` | refused | `/users` |
///
/// Both refuse a path that leads to another scheme, host or port, that contains credentials, or that hides a dot
/// segment that only some servers interpret: with an escaped slash or a backslash (`..%2f`, `..\`), with double escapes
/// (`%252e%252e`), or before a semicolon (`..;x`).
///
/// ```swift
/// configuration.pathResolution = .rfc3986
/// ```
public enum PathResolution: Sendable, Hashable {
    /// The path is appended to the base's path, with one slash between them. A path that leaves the base's path is
    /// refused.
    case join
    /// The path is a relative reference (RFC 3986, 5.2), as in the Objective-C library of this name. The last segment
    /// of a base without a final slash is replaced, and a path may leave the base's path.
    case rfc3986
}
