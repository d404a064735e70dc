import EssentialsHTTP

/// How a request's path joins the environment's base URL.
enum PathRules {
    private static let slash = UInt8(ascii: "/")
    private static let questionMark = UInt8(ascii: "?")
    private static let numberSign = UInt8(ascii: "#")
    private static let colon = UInt8(ascii: ":")

    /// The URL for a path.
    ///
    /// - Throws: `invalidRequest` when the path names another origin, hides a dot segment or, where it is joined, climbs
    ///   out of the base's path.
    static func url(
        _ path: String, under base: RequestURL, _ resolution: PathResolution
    ) throws(RequestFailure) -> RequestURL {
        switch resolution {
        case .join: try join(path, to: base)
        case .rfc3986: try resolve(path, against: base)
        }
    }

    /// Joins a path under a base: the base's path is kept, one slash stands between, the path's own query stays.
    ///
    /// - Throws: `invalidRequest` when the path names another origin, hides a dot segment or climbs out of the base's path.
    static func join(_ path: String, to base: RequestURL) throws(RequestFailure) -> RequestURL {
        // Most paths are a few plain words, for which a closer look takes a fifth of a small request's whole way.
        if let url = base.joining(plainPath: path) { url } else { try joinCarefully(path, to: base) }
    }

    /// The same for any path.
    static func joinCarefully(_ path: String, to base: RequestURL) throws(RequestFailure) -> RequestURL {
        try HiddenDotSegments.refuse(in: path, base)
        if let url = try absolute(path, base) { return try checked(url, under: base) }
        // By bytes: a combining mark behind a sign makes another character of it.
        let first = path.utf8.first
        if first == nil || first == questionMark || first == numberSign {
            return try RequestURL(origin: base.origin, path: base.path + path)
        }
        let rest = Substring(path.utf8.drop { $0 == slash })
        return try checked(RequestURL(origin: base.origin, path: directory(of: base) + rest), under: base)
    }

    /// Resolves a path as a relative reference (RFC 3986, 5.2.2).
    ///
    /// - Throws: `invalidRequest` when it names another origin or hides a dot segment.
    static func resolve(_ path: String, against base: RequestURL) throws(RequestFailure) -> RequestURL {
        try HiddenDotSegments.refuse(in: path, base)
        let reference = String(Substring(path.utf8.prefix { $0 != numberSign }))
        if let url = try absolute(reference, base) { return url }
        if scheme(of: reference[...]) != nil {
            // Says that this is no absolute URL, which it would have to be.
            return try RequestURL(reference)
        }
        switch reference.utf8.first {
        case nil: return base
        case slash: return try RequestURL(origin: base.origin, path: reference)
        case questionMark: return try RequestURL(origin: base.origin, path: base.path + reference)
        default:
            // The base's path has a slash at its beginning.
            let directory = base.path[...(base.path.lastIndex(of: "/") ?? base.path.startIndex)]
            return try RequestURL(origin: base.origin, path: directory + reference)
        }
    }

    /// The URL that a path is itself, if it has an authority.
    ///
    /// - Throws: `invalidRequest` when it is none, or of another origin than the base.
    private static func absolute(_ path: String, _ base: RequestURL) throws(RequestFailure) -> RequestURL? {
        let scheme = scheme(of: path[...])
        let rest = scheme.map { path.utf8[$0.endIndex...].dropFirst() } ?? path.utf8[...]
        guard rest.starts(with: [slash, slash]) else { return nil }
        let url = try RequestURL(scheme == nil ? "\(base.origin.scheme.rawValue):\(path)" : path)
        guard url.origin == base.origin else {
            throw RequestFailure(
                .invalidRequest, "The path leads to \(url.origin) instead of \(base.origin).",
                remedy: "Give a path below the environment's base URL.", host: base.origin.host.text)
        }
        return url
    }

    /// What stands before a colon that comes before any slash, question or number sign.
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
        // By bytes, which all are ASCII here: characters cost a microsecond.
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

/// How a request's path and the environment's base URL make the URL that is requested.
///
/// | base | path | ``join`` | ``rfc3986`` |
/// |---|---|---|---|
/// | `https://h/v1` | `users` | `/v1/users` | `/users` |
/// | `https://h/v1/` | `users` | `/v1/users` | `/v1/users` |
/// | `https://h/v1/` | `/users` | `/v1/users` | `/users` |
/// | `https://h/v1/` | `../users` | refused | `/users` |
///
/// Both refuse a path that leads to another scheme, host or port, that holds credentials, or that hides a dot segment where
/// only some servers find it: behind an escaped slash or backslash (`..%2f`, `..\`), behind two escapes (`%252e%252e`), or
/// before a semicolon (`..;x`).
///
/// ```swift
/// configuration.pathResolution = .rfc3986
/// ```
public enum PathResolution: Sendable, Hashable {
    /// The base's path stays, with one slash between; what would climb out of it is refused.
    case join
    /// The path is a relative reference (RFC 3986, 5.2), as in the Objective-C library of this name: the last segment of
    /// a base without a slash at its end goes, and a path may leave the base's path.
    case rfc3986
}
