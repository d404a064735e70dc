import ArgumentParser
import ServiceEssentials

/// `essentials send`, which also runs if the command line begins with a URL.
struct SendCommand: RequestCommand {
    static let configuration = describe(
        "send", "Send GET, or POST if there is a body. “essentials URL” is the same.",
        #"""
          essentials example.com/films q==metropolis
          essentials -v https://api.example.com/ --pin sha256/… --pin sha256/…
          essentials api.example.com/users name=Ada age:=36 X-Tenant:acme
          essentials -X PATCH example.com/users/1 -H 'If-Match: "2"' -d @change.json
        """#)

    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Request") var authorization: AuthorizationOptions
    @OptionGroup(title: "Request") var environment: EnvironmentOptions

    @Option(
        name: [.customShort("X", allowingJoined: true), .customLong("request")],
        help: ArgumentHelp(
            "The method. (default: GET, or POST if there is a body)", valueName: "method"),
        transform: MethodArgument.read)
    var givenMethod: HTTPRequest.Method?

    @Flag(name: [.customShort("I"), .customLong("head")], help: "Send HEAD.")
    var isHead = false

    @OptionGroup(title: "Body") var content: BodyOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Connection") var connection: ConnectionOptions
    @OptionGroup(title: "Retries") var retry: RetryOptions
    @OptionGroup(title: "Cookies") var cookies: CookieOptions
    @OptionGroup(title: "Output") var statuses: StatusOptions
    @OptionGroup(title: "Output") var output: OutputOptions
    @OptionGroup(title: "Output") var errors: ErrorOptions

    var body: BodyOptions? { content }

    var method: HTTPRequest.Method {
        if isHead { return .head }
        return givenMethod ?? (hasBody ? .post : .get)
    }

    private var hasBody: Bool { request.hasMembers || !content.given.isEmpty }

    func validate() throws {
        try validateRequest()
        if isHead, givenMethod != nil { throw ValidationError("Give --head or --request, not both.") }
        if isHead, hasBody { throw ValidationError("HEAD has no body. Remove it, or --head.") }
    }
}

/// The forms of a command line without a command.
enum CommandLineForm {
    /// Adds the command `send` in front of a URL, or of options that are followed by a URL. A method in capitals becomes
    /// the command of its name.
    static func expanded(_ arguments: [String], commands: [String]) -> [String] {
        guard let first = arguments.first else { return arguments }
        if URLArgument.isURL(first) { return ["send"] + arguments }
        if first == first.uppercased(), commands.contains(first.lowercased()) {
            return [first.lowercased()] + arguments.dropFirst()
        }
        let isOption = first.utf8.starts(with: "-".utf8) && !["-h", "--help", "--version"].contains(first)
        let hasURL = arguments.contains { URLArgument.isURL($0) }
        let hasCommand = arguments.contains { commands.contains($0) }
        return isOption && hasURL && !hasCommand ? ["send"] + arguments : arguments
    }
}
