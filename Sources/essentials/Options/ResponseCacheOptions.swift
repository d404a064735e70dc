import ArgumentParser
import ServiceEssentials

/// The cache of responses of `essentials get`, and how it is used.
struct ResponseCacheOptions: ParsableArguments {
    @Option(
        name: .customLong("cache"),
        help: ArgumentHelp(
            "Store responses in this directory, and serve them again, as HTTP allows it. It is created with the "
                + "permissions 0700. Responses for different credentials and trust options are kept apart. --include and "
                + "--timings show what the cache has done.", valueName: "directory"),
        completion: .directory)
    var directory: String?

    @Flag(name: .customLong("reload"), help: "With --cache: ask the server for the whole response, and store it.")
    var reloads = false

    @Flag(
        name: .customLong("only-stored"),
        help: "With --cache: send nothing. The command fails with \"notCached\" if no fresh response is stored.")
    var usesOnlyStored = false

    @Option(
        name: .customLong("max-stale"),
        help: ArgumentHelp(
            "With --cache: also accept a response that has been stale for up to this time, such as 1h, unless the server "
                + "forbids that.", valueName: "time"), transform: DurationArgument.read)
    var maximumStale: Duration?

    func validate() throws {
        if directory?.isEmpty == true { throw ValidationError("--cache needs the name of a directory.") }
        let others: [(name: String, isGiven: Bool)] = [
            ("--reload", reloads), ("--only-stored", usesOnlyStored), ("--max-stale", maximumStale != nil),
        ]
        for other in others where other.isGiven && directory == nil {
            throw ValidationError("\(other.name) needs --cache.")
        }
        if reloads, let other = others.dropFirst().first(where: \.isGiven) {
            throw ValidationError("Give --reload or \(other.name), not both.")
        }
    }

    /// Refuses options with which nothing is stored.
    func validate(
        beside request: RequestOptions, _ cookies: CookieOptions, _ models: ModelCacheOptions?, _ output: OutputOptions
    ) throws {
        guard directory != nil else { return }
        let others: [(name: String, isGiven: Bool)] = [
            ("--cookie-jar", cookies.jar != nil), ("--model-cache", models?.directory != nil),
            ("--resume", output.resumes),
        ]
        for other in others where other.isGiven { throw ValidationError("Give --cache or \(other.name), not both.") }
        if maximumStale != nil, request.hasHeader("cache-control") {
            throw ValidationError("Give --max-stale or a header field Cache-Control, not both.")
        }
    }

    /// The cache; `nil` without the option.
    func cache() throws(RequestFailure) -> ResponseCache? {
        // What is stored counts, so that each run sees what another one has removed.
        try directory.map { path throws(RequestFailure) in
            try ResponseCache(memory: .bytes(0), disk: .directory(path))
        }
    }

    /// Sets how the request uses the cache.
    func apply(to request: inout DataRequest) {
        if reloads { request.cachePolicy = .reload }
        if usesOnlyStored { request.cachePolicy = .onlyIfStored }
        if let maximumStale {
            request.headerFields[.cacheControl] = "max-stale=\(maximumStale.components.seconds)"
        }
    }
}
