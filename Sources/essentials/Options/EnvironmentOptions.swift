import ArgumentParser
import ServiceEssentials

/// The environment whose base URL the request uses.
struct EnvironmentOptions: ParsableArguments {
    @Option(
        name: .customLong("environment"),
        help: ArgumentHelp(
            "Read environments from this JSON file. The URL is then a path below the base URL of the selected "
                + "environment, which also adds its header fields. If the environment has a trust policy, --policy, "
                + "--pin and the other trust options are refused.", valueName: "file"),
        completion: .file())
    var file: String?

    @Option(
        name: .customLong("env"),
        help: ArgumentHelp(
            "With --environment: the environment to use. (default: the file's \"current\", otherwise its first one)",
            valueName: "name"))
    var name: String?

    func validate() throws {
        if name != nil, file == nil { throw ValidationError("--env needs --environment.") }
    }

    /// The selected environment; `nil` without a file.
    func snapshot() throws(RequestFailure) -> EnvironmentSnapshot? {
        try file.map { path throws(RequestFailure) in
            try SwitchableEnvironment(contentsOfFile: path, current: name).snapshot
        }
    }
}
