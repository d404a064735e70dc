import ArgumentParser
import ServiceEssentials

/// Which environment the URL is a path of.
struct EnvironmentOptions: ParsableArguments {
    @Option(
        name: .customLong("environment"),
        help: ArgumentHelp(
            "Read environments from this JSON file: the URL is then a path below the base URL of the one in force, "
                + "which adds its header fields. If it has a trust policy, that is the whole one, and --policy, --pin "
                + "and the like are refused.", valueName: "file"))
    var file: String?

    @Option(
        name: .customLong("env"),
        help: ArgumentHelp(
            "With --environment: the environment in force. (default: the file's \"current\", or else its first one)",
            valueName: "name"))
    var name: String?

    func validate() throws {
        if name != nil, file == nil { throw ValidationError("--env needs --environment.") }
    }

    /// The environment in force; nil without a file.
    func snapshot() throws(RequestFailure) -> EnvironmentSnapshot? {
        try file.map { path throws(RequestFailure) in
            try SwitchableEnvironment(contentsOfFile: path, current: name).snapshot
        }
    }
}
