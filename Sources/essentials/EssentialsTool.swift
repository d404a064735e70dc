import ArgumentParser
import EssentialsTools
import EssentialsTransport
import ServiceEssentials

/// The command-line tool: requests, pins, and a demonstration of the package.
@main
struct EssentialsTool: AsyncParsableCommand {
    /// The User-Agent of all requests.
    static let userAgent = "essentials/\(PackageVersion.text) (\(CurlTransport.libraryVersions))"

    static let configuration = CommandConfiguration(
        commandName: "essentials",
        abstract: "Send HTTP requests under a strict trust policy, and inspect servers and their reachability.",
        usage: """
            essentials <url> [<item> ...] [<options>]
            essentials <subcommand>
            """,
        discussion: """
            EXAMPLES
              essentials api.example.com/users role==admin
              essentials get https://api.example.com/users --query role=admin
              essentials post https://api.example.com/users --json '{"name": "Ada"}'
              essentials post https://api.example.com/pictures -F picture=@1.png -F title=Summer
              essentials get users/1 --environment api.json --env staging
              essentials get api.example.com --model-cache coins --source backendElseCache
              essentials get https://example.com/file.zip --output file.zip --timings
              essentials pins example.com
              essentials reachability example.com
              essentials watch api.example.com/status --every 5s
              essentials get https://example.com/ --har example.har
              essentials har example.har
              essentials inspect example.har --to example.html
              essentials health http://127.0.0.1:8080/health
              essentials cookies jar.txt
              essentials outbox views drain --base-url https://api.example.com/
              essentials store info shop.sqlite
              essentials redis check rediss://cache.example
              essentials bench https://localhost:8443/ -c 64 -n 10000
              essentials demo

            VARIABLES
              ESSENTIALS_USER            Same as --user: name:password.
              ESSENTIALS_DIGEST          Same as --digest: name:password.
              ESSENTIALS_BEARER          Same as --bearer: a token.
              ESSENTIALS_CLIENT_ID       The client's identifier for --oauth-token-url.
              ESSENTIALS_CLIENT_SECRET   The client's secret for --oauth-token-url.
              ESSENTIALS_KEY_PASSPHRASE  The passphrase of --client-key.
              ESSENTIALS_REDIS_USER      The user of a Redis server: name:password.

            TOPICS
            \(HelpTopic.list)

            EXIT CODES
              0    Success.
              1    The request failed. The line “error: REASON: text” names a stable REASON.
              64   Wrong usage, or an invalid value that was refused before anything was sent.
              69   The tool was built without what the command needs.
              130  Interrupted with Ctrl-C.
              141  The program that read the output has ended, as “head” does.
              143  Terminated by SIGTERM.
            """,
        version: "essentials \(PackageVersion.text) (\(CurlTransport.libraryVersions))",
        subcommands: [
            SendCommand.self, GetCommand.self, WritingCommand<PostMethod>.self, WritingCommand<PutMethod>.self,
            WritingCommand<PatchMethod>.self, WritingCommand<DeleteMethod>.self,
            ReadingCommand<HeadMethod>.self, ReadingCommand<OptionsMethod>.self, MethodCommand.self, PinsCommand.self,
            ReachabilityCommand.self,
            WatchCommand.self, HARCommand.self, InspectCommand.self, HealthCommand.self, CookiesCommand.self,
            CacheCommand.self,
            OutboxCommand.self,
            StoreCommand.self, RedisCommand.self,
            BenchCommand.self, DemoCommand.self,
            HelpTopicCommand.self,
        ])

    /// The names of the commands.
    static var commandNames: [String] { configuration.subcommands.map { $0._commandName } }

    /// The command that the arguments describe, which has not been run.
    static func command(for arguments: [String]) async throws -> any ParsableCommand {
        try Mistakes.checkCommand(arguments)
        return try await asyncParseAsRoot(arguments)
    }

    /// Runs the command of the command line, and improves the parser's messages about wrong usage.
    static func main() async {
        StandardStream.occupyClosed()
        let arguments = CommandLineForm.expanded(Array(CommandLine.arguments.dropFirst()), commands: commandNames)
        do {
            var command = try await command(for: arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            let message = fullMessage(for: error)
            switch exitCode(for: error) {
            case .validationFailure where !message.isEmpty:
                StandardStream.error.printLine(Mistakes.improved(message, arguments: arguments))
                Glibc.exit(ExitCode.validationFailure.rawValue)
            case .success where arguments.first?.hasPrefix("--generate-completion-script") == true:
                print(CompletionScript.completed(message, words: HelpTopicCommand.words))
            default: exit(withError: error)
            }
        }
    }
}
