import ArgumentParser
import ServiceEssentials

/// The cache of models of `essentials get`, and which of cache and server is asked.
struct ModelCacheOptions: ParsableArguments {
    /// The values of `--source`.
    enum Source: String, ExpressibleByArgument, CaseIterable {
        case cache, backend, cacheThenBackend, cacheElseBackend, backendElseCache, both
    }

    @Option(
        name: .customLong("model-cache"),
        help: ArgumentHelp(
            "Read and store the JSON document of the response in this directory, which is created with the permissions "
                + "0700. Documents of different credentials are kept apart.", valueName: "directory"),
        completion: .directory)
    var directory: String?

    @Option(
        name: .customLong("source"),
        help: """
            With --model-cache: where the printed documents come from. “cache” sends nothing. “cacheThenBackend” prints the \
            cached document, and then that of the server. “cacheElseBackend” sends the request only if nothing is cached. \
            “backendElseCache” prints the cached document if the request fails. “both” prints the one that arrives first. \
            (default: cacheThenBackend)
            """)
    var source: Source?

    @Option(
        name: .customLong("maximum-age"),
        help: ArgumentHelp(
            "With --source cacheElseBackend: the age up to which a cached document is used, such as 60s. (default: no "
                + "limit)", valueName: "time"), transform: DurationArgument.read)
    var maximumAge: Duration?

    func validate() throws {
        if directory?.isEmpty == true { throw ValidationError("--model-cache needs the name of a directory.") }
        if source != nil, directory == nil { throw ValidationError("--source needs --model-cache.") }
        if maximumAge != nil, source != .cacheElseBackend {
            throw ValidationError("--maximum-age needs --source cacheElseBackend.")
        }
    }

    /// Refuses options that have no effect on a model, or whose responses must not be stored.
    func validate(beside request: RequestOptions, _ cookies: CookieOptions, _ output: OutputOptions) throws {
        guard directory != nil else { return }
        let others: [(name: String, isGiven: Bool)] = [
            ("--output", output.file.map { $0 != "-" } ?? false), ("--remote-name", output.usesRemoteName),
            ("--timings", output.printsTimings), ("--cookie", !cookies.cookies.isEmpty),
            ("--cookie-jar", cookies.jar != nil),
        ]
        for other in others where other.isGiven {
            throw ValidationError("Give --model-cache or \(other.name), not both.")
        }
        for name in ["Authorization", "Proxy-Authorization", "Cookie", "Range"]
        where request.hasHeader(name.lowercased()) {
            throw ValidationError(
                "The response to a request with the header field \(name) is not stored. Remove it, or --model-cache.")
        }
    }

    /// Where the documents come from.
    var fetchSource: FetchSource {
        switch source {
        case .cache: .cache
        case .backend: .backend
        case .cacheThenBackend, nil: .cacheThenBackend
        case .cacheElseBackend: .cacheElseBackend(maximumAge: maximumAge)
        case .backendElseCache: .backendElseCache
        case .both: .both
        }
    }
}
