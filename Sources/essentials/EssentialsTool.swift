import ArgumentParser
import ServiceEssentials

/// The command-line tool: requests, pins, and a demonstration of the package.
@main
struct EssentialsTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "essentials",
        abstract: "Send HTTP requests under a trust policy of your own, and look at servers' certificates.",
        discussion: """
            EXAMPLES
              essentials get https://api.example.com/users --query role=admin
              essentials post https://api.example.com/users --json '{"name": "Ada"}'
              essentials get https://example.com/file.zip --output file.zip --timings
              essentials pins example.com
              essentials demo

            EXIT CODES
              0    Done.
              1    The request failed, as “error: REASON: text” says; REASON is stable.
              64   Wrong usage, or a value that was refused before anything was sent.
              130  Interrupted with Ctrl-C.
              143  Terminated by SIGTERM.
            """,
        version: "essentials 0.1.0 (\(CurlTransport.libraryVersions))",
        subcommands: [
            GetCommand.self, PostCommand.self, PutCommand.self, PatchCommand.self, DeleteCommand.self,
            HeadCommand.self, PinsCommand.self, DemoCommand.self,
        ])
}
