import EssentialsHTTP

/// How a request's path joins the environment's base URL.
enum PathRules {
    /// Joins a path under a base: the base's path is kept, one slash stands between, the path's own query stays.
    ///
    /// - Throws: `invalidRequest` when the path names another origin or climbs out of the base's path.
    static func join(_ path: String, to base: RequestURL) throws(RequestFailure) -> RequestURL {
        if path.hasPrefix("//") || path.contains("://") && isAbsolute(path) {
            let absolute = path.hasPrefix("//") ? "\(base.origin.scheme.rawValue):\(path)" : path
            let url = try RequestURL(absolute)
            guard url.origin == base.origin else {
                throw RequestFailure(
                    .invalidRequest, "The path leads to \(url.origin) instead of \(base.origin).",
                    remedy: "Give a path below the environment's base URL.", host: base.origin.host.text)
            }
            return try checked(url, under: base)
        }
        let prefix = directory(of: base)
        let url = try RequestURL(origin: base.origin, path: prefix + path.drop { $0 == "/" })
        return try checked(path.isEmpty ? RequestURL(origin: base.origin, path: String(base.path)) : url, under: base)
    }

    /// Whether a scheme stands before the first `://`, so that it is no part of a query.
    private static func isAbsolute(_ path: String) -> Bool {
        path.prefix { $0 != ":" }.allSatisfy { $0.isLetter || $0.isNumber || $0 == "+" || $0 == "-" || $0 == "." }
    }

    private static func directory(of base: RequestURL) -> String {
        base.path.hasSuffix("/") ? String(base.path) : base.path + "/"
    }

    private static func checked(_ url: RequestURL, under base: RequestURL) throws(RequestFailure) -> RequestURL {
        let directory = directory(of: base)
        guard url.path.hasPrefix(directory) || url.path == directory.dropLast() || url.path == base.path else {
            throw RequestFailure(
                .invalidRequest, "The path climbs out of \(directory), the base URL's path.",
                remedy: "Remove “..” segments, or use an environment with a shorter base URL.",
                host: base.origin.host.text)
        }
        return url
    }
}
