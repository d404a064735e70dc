import ArgumentParser
import EssentialsTools
import ServiceEssentials

/// `essentials outbox`
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "List, send, drop or retry the requests of an outbox.",
        discussion: """
            An outbox is a directory that keeps requests until a server has accepted them. Programs add to it, as \
            “essentials post --outbox” does.

            “list” prints a line for each entry: its identifier, when it was added, its request without the query, and \
            its state. It changes nothing, and works while another process sends the entries. Other actions need the \
            outbox for themselves: they fail with the number of the process that uses it.

            “drain” sends every entry of the environment and the partition once, in order, with its Idempotency-Key and \
            the credentials of the options or variables. Each entry that was sent is printed, and afterwards each one \
            that is left. An entry that the server has refused is given up: it stays until it is dropped, or until \
            “retry” lets the next drain send it again.

            With --format json each line is an object with "id", "added", "method", "path", "baseURL", "orderingKey", \
            "idempotencyKey", "bytes", "state", "status" and "failure". Members without a value are left out.

            EXAMPLES
              essentials outbox views
              essentials outbox views list --format json
              essentials outbox views drain --base-url https://api.example.com/
              essentials outbox views drain --environment api.json --env staging
              essentials outbox views drop 0000019c3d5e8f20

            EXIT CODES
              0 success, 1 an entry is left or has failed, or the directory cannot be used, 64 wrong usage or an \
            invalid value, 130 Ctrl-C, 141 closed output, 143 SIGTERM
            """)

    /// The values of the second argument.
    enum Action: String, ExpressibleByArgument, CaseIterable {
        case list, drain, drop, retry
    }

    @Argument(help: "The directory of the outbox.", completion: .directory)
    var directory: String

    @Argument(help: "What to do.")
    var action = Action.list

    @Argument(help: "With drop and retry: the identifiers of the entries.")
    var ids: [String] = []

    @OptionGroup(title: "Environment") var environment: OutboxEnvironmentOptions
    @OptionGroup(title: "Credentials") var authorization: AuthorizationOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Connection") var connection: ConnectionOptions

    @Option(name: .customLong("format"), help: "The output format.")
    var format = OutputFormat.text

    @OptionGroup(title: "Output") var errors: ErrorOptions

    func validate() throws {
        switch action {
        case .drop, .retry:
            if ids.isEmpty { throw ValidationError("“\(action.rawValue)” needs the identifier of an entry.") }
        case .list, .drain:
            if let id = ids.first {
                throw ValidationError("“\(action.rawValue)” takes no identifier, so “\(OneLine.text(id))” is refused.")
            }
        }
        for id in ids where OutboxEntry.ID(id) == nil {
            throw ValidationError(
                "“\(OneLine.text(id))” is not the identifier of an entry, which has 16 hexadecimal digits.")
        }
        if action != .drain, let option = environment.given {
            throw ValidationError("\(option) has an effect on “drain” only.")
        }
        if action == .drain, environment.baseURL == nil, environment.file.file == nil {
            throw ValidationError("“drain” needs the environment of the entries: give --base-url or --environment.")
        }
    }

    func run() async throws {
        try await FailurePrinter(format: errors.format).run { () async throws(RequestFailure) in
            try checkDirectory()
            switch action {
            case .list: try print(try await Outbox.entries(in: directory))
            case .drain: try await drain()
            case .drop, .retry: try await change()
            }
        }
    }

    /// Refuses a directory that does not exist. An outbox accepts it, but there is nothing to list or to send then.
    private func checkDirectory() throws(RequestFailure) {
        guard access(directory, F_OK) != 0 else { return }
        throw RequestFailure.file(
            "“\(RequestFailure.shown(directory))” could not be opened",
            remedy: "Check the path; “essentials post --outbox” creates such a directory.")
    }

    private static func line(_ line: OutboxLine, in format: OutputFormat) -> String {
        format == .text ? line.text : line.json
    }

    private func print(_ entries: [OutboxEntry]) throws(RequestFailure) {
        if entries.isEmpty, format == .text { return try StandardStream.output.write("The outbox is empty.\n") }
        for entry in entries {
            try StandardStream.output.write(Self.line(OutboxLine(entry: entry), in: format) + "\n")
        }
    }

    // MARK: Sending

    private func drain() async throws(RequestFailure) {
        guard var environment = try environment.snapshot() else { return }
        let transport = try CurlTransport(
            trust: trust.policy(in: environment), configuration: connection.configuration())
        // The transport enforces the environment's policy for every request.
        environment.trust = nil
        let service = try makeService(over: transport, in: environment)
        var options = connection.transportOptions(recordsTrust: false)
        options.delivery = TransportOptions().delivery
        let drain = OutboxDrain(
            directory: directory, service: service, environment: environment, partition: self.environment.partition,
            options: options, line: { [format] in Self.line($0, in: format) })
        let warnings = TrustWarnings(transport.trustReports)
        var failure: RequestFailure?
        do throws(RequestFailure) {
            try await Interruption.watch(removing: nil) { () async throws(RequestFailure) in try await drain.run() }
        } catch {
            failure = error
        }
        await service.shutdown()
        await warnings.end()
        if let failure { throw failure }
    }

    private func makeService(
        over transport: CurlTransport, in environment: EnvironmentSnapshot
    ) throws(RequestFailure) -> HTTPDataRequestService {
        let credentials = try authorization.credentials(
            over: ToolTransport(transport: transport, userAgent: EssentialsTool.userAgent, log: nil))
        var configuration = HTTPDataRequestService.Configuration()
        configuration.userAgent = EssentialsTool.userAgent
        let service = HTTPDataRequestService(
            environment: ConstantEnvironment(environment), transport: ToolTransport(transport: transport, log: nil),
            configuration: configuration)
        if let credentials { service.setAuthorization(credentials) }
        return service
    }

    // MARK: Changing

    /// Drops or retries entries. Nothing is sent, because no partition is entered.
    private func change() async throws(RequestFailure) {
        let environment = EnvironmentSnapshot(baseURL: try RequestURL("https://localhost/"))
        let service = try makeService(over: CurlTransport(trust: .system), in: environment)
        let outbox = try Outbox(
            directory: directory, requests: service, environment: ConstantEnvironment(environment), partition: nil)
        var failure: RequestFailure?
        do throws(RequestFailure) {
            for id in ids.compactMap({ OutboxEntry.ID($0) }) {
                let isDone = action == .drop ? try await outbox.drop(id) : try await outbox.retry(id)
                guard isDone else { throw missing(id) }
                if format == .text {
                    try StandardStream.output.write(action == .drop ? "Dropped \(id).\n" : "\(id) is sent again.\n")
                }
            }
        } catch {
            failure = error
        }
        await outbox.close()
        await service.shutdown()
        if let failure { throw failure }
    }

    private func missing(_ id: OutboxEntry.ID) -> RequestFailure {
        RequestFailure(
            .invalidRequest,
            action == .drop ? "There is no entry \(id)." : "There is no entry \(id) that was given up.",
            remedy: "See “essentials outbox \(RequestFailure.shown(directory))”.")
    }
}
