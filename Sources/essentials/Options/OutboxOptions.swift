import ArgumentParser
import ServiceEssentials

/// The outbox that keeps a request instead of sending it.
struct OutboxOptions: ParsableArguments {
    @Option(
        name: .customLong("outbox"),
        help: ArgumentHelp(
            "Do not send the request: keep it in this directory until “essentials outbox DIR drain” sends it, and print "
                + "its identifier. Credentials are not kept.", valueName: "directory"), completion: .directory)
    var directory: String?

    func validate() throws {
        if directory?.isEmpty == true { throw ValidationError("--outbox needs the name of a directory.") }
    }

    /// Refuses options for a response, which does not arrive.
    func validate(beside output: OutputOptions, _ cookies: CookieOptions) throws {
        guard directory != nil else { return }
        let others: [(name: String, isGiven: Bool)] = [
            ("--output", output.file != nil), ("--remote-name", output.usesRemoteName),
            ("--include", output.includesHead), ("--timings", output.printsTimings),
            ("--cookie", !cookies.cookies.isEmpty), ("--cookie-jar", cookies.jar != nil),
        ]
        for other in others where other.isGiven {
            throw ValidationError("Give --outbox or \(other.name), not both.")
        }
    }
}

/// The environment for which the entries of an outbox were added.
struct OutboxEnvironmentOptions: ParsableArguments {
    @Option(
        name: .customLong("base-url"),
        help: ArgumentHelp(
            "With drain: the base URL of the environment of the entries, as “list” shows it. Entries of other "
                + "environments are left.", valueName: "url"))
    var baseURL: String?

    @OptionGroup var file: EnvironmentOptions

    @Option(
        name: .customLong("partition"),
        help: ArgumentHelp(
            "With drain: the name under which the program that has added the entries has entered the account. "
                + "(default: none)", valueName: "name"))
    var partitionName: String?

    func validate() throws {
        if baseURL != nil, file.file != nil { throw ValidationError("Give --base-url or --environment, not both.") }
        if partitionName?.isEmpty == true { throw ValidationError("--partition needs a name.") }
    }

    /// The first option that was given.
    var given: String? {
        let all = [("--base-url", baseURL), ("--environment", file.file), ("--partition", partitionName)]
        return all.first { $0.1 != nil }?.0
    }

    var partition: EntityPartition { partitionName.map { EntityPartition($0) } ?? .shared }

    /// The environment; `nil` if none was given.
    func snapshot() throws(RequestFailure) -> EnvironmentSnapshot? {
        if let snapshot = try file.snapshot() { return snapshot }
        guard let baseURL else { return nil }
        return EnvironmentSnapshot(baseURL: try RequestURL(URLArgument.absolute(baseURL)))
    }
}
