import ArgumentParser
import ServiceEssentials

/// The command-line tool: requests, pins, and a demonstration of the package.
@main
struct EssentialsTool: AsyncParsableCommand {
    /// The User-Agent of all requests.
    static let userAgent = "essentials/\(PackageVersion.text) (\(CurlTransport.libraryVersions))"

    static let configuration = CommandConfiguration(
        commandName: "essentials",
        abstract: "Send HTTP requests under a strict trust policy, and inspect servers and their reachability.",
        discussion: """
            EXAMPLES
              essentials get https://api.example.com/users --query role=admin
              essentials post https://api.example.com/users --json '{"name": "Ada"}'
              essentials post https://api.example.com/pictures --part 'picture=@1.png' --part title=Summer
              essentials get users/1 --environment api.json --env staging
              essentials get https://example.com/file.zip --output file.zip --timings
              essentials pins example.com
              essentials reachability example.com
              essentials demo

            VARIABLES
              ESSENTIALS_USER            Same as --user: name:password.
              ESSENTIALS_DIGEST          Same as --digest: name:password.
              ESSENTIALS_BEARER          Same as --bearer: a token.
              ESSENTIALS_KEY_PASSPHRASE  The passphrase of --client-key.

            EXIT CODES
              0    Success.
              1    The request failed. The line “error: REASON: text” names a stable REASON.
              64   Wrong usage, or an invalid value that was refused before anything was sent.
              130  Interrupted with Ctrl-C.
              143  Terminated by SIGTERM.
            """,
        version: "essentials \(PackageVersion.text) (\(CurlTransport.libraryVersions))",
        subcommands: [
            GetCommand.self, PostCommand.self, PutCommand.self, PatchCommand.self, DeleteCommand.self,
            HeadCommand.self, OptionsCommand.self, MethodCommand.self, PinsCommand.self, ReachabilityCommand.self,
            DemoCommand.self,
        ])
}
