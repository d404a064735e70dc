import ArgumentParser
import EssentialsRedis
import EssentialsTools
import ServiceEssentials

/// `essentials redis`
struct RedisCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redis",
        abstract: "Check a Redis server that machines share, or print the rules of access for it.",
        discussion: """
            check connects as a program with RedisClient does, and prints what the server is, how long a round trip takes, \
            whether the connection is encrypted and pinned, which of the commands that a client uses the server refuses, and \
            how many keys it remembers for its clients. It writes one key, which it deletes again.

            acl prints the rules of a user (ACL SETUSER) that an application needs, and connects to nothing.

            The URL is redis://host:port, or rediss://host:port for TLS. The user and the password come from the variable \
            ESSENTIALS_REDIS_USER, as name:password, or from the URL, where other users of the machine can see them.

            EXAMPLES
              essentials redis check rediss://cache.example --pin sha256/… --pin sha256/…
              essentials redis check redis://127.0.0.1:6379
              essentials redis acl --application films

            EXIT CODES
              0 success; 1 the server cannot be used, or refuses a command; 64 wrong usage or an invalid value
            """)

    /// What is done.
    enum Action: String, ExpressibleByArgument, CaseIterable {
        case check, acl
    }

    @Argument(help: "What to do.")
    var action: Action

    @Argument(help: "With check: the URL of the server.")
    var url: String?

    @Option(help: ArgumentHelp("What the keys of the application begin with.", valueName: "name"))
    var application = "check"

    @Flag(name: .customLong("allow-plaintext"), help: "Connect to another machine without encryption.")
    var allowsPlaintext = false

    @Option(
        name: .customLong("unix-socket"),
        help: ArgumentHelp("Connect to this Unix-domain socket, whatever the host of the URL is.", valueName: "path"),
        completion: .file())
    var unixSocket: String?

    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Output") var errors: ErrorOptions

    func validate() throws {
        switch (action, url) {
        case (.check, nil): throw ValidationError("Give the URL of the server, such as redis://127.0.0.1:6379.")
        case (.acl, _?): throw ValidationError("acl connects to no server. Remove the URL.")
        default: break
        }
    }

    func run() async throws {
        var isUsable = true
        try await FailurePrinter(format: errors.format).run { () async throws(RequestFailure) in
            guard let url else {
                return try StandardStream.output.write(try RedisClient.accessRules(application: application) + "\n")
            }
            var engine = CurlTransport.Configuration()
            engine.unixSocket = unixSocket
            let policy = try trust.policy()
            let transport = try CurlTransport(trust: policy, configuration: engine)
            var configuration = RedisClient.Configuration()
            // What goes through the socket does not leave the machine.
            configuration.allowsPlaintext = allowsPlaintext || unixSocket != nil
            configuration.timeLimit = .seconds(5)
            configuration.credentials = try Self.credentials()
            let client = try client(url, over: transport, configuration)
            defer { client.close() }
            let report = try await client.report()
            isUsable = report.refusedCommands.isEmpty
            let isEncrypted = url.lowercased().hasPrefix("rediss:")
            try StandardStream.output.write(lines(report, isEncrypted: isEncrypted).map { $0 + "\n" }.joined())
        }
        if !isUsable { throw ExitCode.failure }
    }

    private func client(
        _ url: String, over transport: CurlTransport, _ configuration: RedisClient.Configuration
    ) throws(RequestFailure) -> RedisClient {
        do throws(RequestFailure) {
            return try RedisClient(url, application: application, over: transport, configuration: configuration)
        } catch {
            guard error.reason == .plaintextRefused else { throw error }
            throw error.changed {
                $0.remedy = "Write rediss:// for TLS. In a network that you trust, add --allow-plaintext."
            }
        }
    }

    private func lines(_ report: RedisClient.Report, isEncrypted: Bool) -> [String] {
        let hasPins = !trust.publicKeyPins.isEmpty || !trust.certificatePins.isEmpty
        let refused = report.refusedCommands
        let microseconds = Int(report.roundTrip / .microseconds(1))
        return [
            "server: \(VisibleText.line(report.software))", "round trip: \(microseconds) µs",
            "encrypted: \(isEncrypted ? hasPins ? "yes, and a pin has matched" : "yes" : "no")",
            "refused commands: \(refused.isEmpty ? "none" : refused.joined(separator: ", "))",
            "tracked keys: \(report.trackedKeys.map { "\($0)" } ?? "unknown")",
        ]
    }

    private static let userVariable = "ESSENTIALS_REDIS_USER"

    private static func credentials() throws(RequestFailure) -> (
        @Sendable @concurrent () async throws -> RedisCredentials?
    )? {
        guard let text = getenv(userVariable).map({ String(cString: $0) }) else { return nil }
        guard let colon = text.firstIndex(of: ":") else {
            throw RequestFailure(
                .invalidRequest, "The variable \(userVariable) has no colon.", remedy: "Set it to name:password.")
        }
        let credentials = RedisCredentials(
            user: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
        return { credentials }
    }
}
