import ArgumentParser
import EssentialsTools
import FoundationEssentials
import ServiceEssentials

/// `essentials watch`
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Load a resource regularly, and print a line for each change.",
        discussion: """
            Sends GET at once, and again when the pause of --every has passed since the response, until a signal ends \
            the watch. After the first response the requests are conditional, so that a server with entity tags or \
            dates sends the content only if it has changed. Each failure doubles the pause, up to eight times; a \
            success ends that.

            A line has the time, an event, the status or the failure, and what is known about the content: its size \
            in bytes, its media type, its source, and the time since the server has sent or confirmed it. A failed \
            load keeps the content. The events are "newContent", "notModified" and "failed"; with --loads also \
            "requested". The content itself is not printed.

            With --format json each line is an object with "time", "event", "version", "status", "content" (an \
            object with "bytes", "mediaType", "entityTag", "source" and "age" in seconds) and "failure" (an object \
            as that of --error-format json). Members without a value are left out.

            The command fails if the first load fails for a reason that does not pass by itself: an invalid value, no \
            trust in the server, or no authorization. Every other failure is printed, and the watch goes on.

            EXAMPLES
              essentials watch api.example.com/status
              essentials watch jobs/7 --environment api.json --every 500ms
              essentials watch https://api.example.com/prices --every 1m --format json

            EXIT CODES
              0 a signal ended the watch, 1 the first load failed for a lasting reason, 64 wrong usage or an invalid \
            value, 141 closed output
            """)

    /// The limits of `--every`. More frequent loads would be a load test, for which there is “bench”.
    private static let pauses = Duration.milliseconds(10)...Duration.seconds(86_400)

    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Request") var authorization: AuthorizationOptions
    @OptionGroup(title: "Request") var environment: EnvironmentOptions

    @Option(
        name: .customLong("every"),
        help: ArgumentHelp(
            "The pause between a response and the next request, such as 500ms, 5s or 2m, from 10ms to 1440m. "
                + "(default: 5s)", valueName: "time"), transform: DurationArgument.read)
    var every: Duration?

    @Flag(name: .customLong("loads"), help: "Also print a line when a load begins.")
    var printsLoads = false

    @Option(name: .customLong("format"), help: "The output format.")
    var format = OutputFormat.text

    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Connection") var connection: ConnectionOptions
    @OptionGroup(title: "Output") var errors: ErrorOptions

    func validate() throws {
        try request.checkCredentials(authorization)
        if let every, !Self.pauses.contains(every) { throw ValidationError("--every must be from 10ms to 1440m.") }
    }

    func run() async throws {
        guard !request.hasMembers else {
            throw ValidationError(
                "watch sends GET, so there is no place for name=text. Write name==text for the query.")
        }
        try await FailurePrinter(format: errors.format).run { () async throws(RequestFailure) in
            let environment = try request.environmentInForce(environment)
            let transport = try CurlTransport(
                trust: trust.policy(in: environment), configuration: connection.configuration())
            let requests = try request.service(with: authorization, over: transport, in: environment, log: nil)
            let statuses = LastStatus()
            let resources = try makeService(over: requests, in: environment, statuses)
            let resource: Resource<Data> = resources.resource(url: try url(for: requests).description)
            let warnings = TrustWarnings(transport.trustReports)
            var failure: RequestFailure?
            do throws(RequestFailure) {
                try await Interruption.watch(removing: nil) { [self] () async throws(RequestFailure) in
                    try await follow(resource, statuses)
                }
            } catch {
                // A signal is the only end of a watch, and so its success.
                if !(error.underlying is Interruption.Signal) { failure = error }
            }
            await resources.close()
            await requests.shutdown()
            await warnings.end()
            if let failure { throw failure }
        }
    }

    /// The service that loads the resource, with the settings of the options.
    private func makeService(
        over requests: HTTPDataRequestService, in environment: EnvironmentSnapshot, _ statuses: LastStatus
    ) throws(RequestFailure) -> HTTPResourceService {
        var configuration = HTTPResourceService.Configuration()
        configuration.defaults.refresh = .every(every ?? .seconds(5))
        configuration.defaults.headerFields = try request.request(.get, self.environment).headerFields
        if let maximum = connection.maximumBody { configuration.defaults.maximumBody = maximum.bytes }
        let options = connection.transportOptions(recordsTrust: false)
        let redirects = connection.redirectPolicy
        configuration.defaults.mutate { request in
            request.options = options
            request.redirects = redirects
        }
        configuration.defaults.decorate { call, next in
            let response = try await next(call.request)
            statuses.set(response.status.code)
            return response
        }
        // The transport enforces the environment's policy for every request.
        var environment = environment
        environment.trust = nil
        return try HTTPResourceService(
            requests: requests, environment: ConstantEnvironment(environment), configuration: configuration)
    }

    /// The whole URL of the resource, which other commands would send the request to.
    private func url(for requests: HTTPDataRequestService) throws(RequestFailure) -> RequestURL {
        let sent = try request.request(.get, environment)
        let url = try requests.url(of: sent)
        let query = sent.query.encodedQuery
        return query.isEmpty ? url : url.appending(encodedQuery: query)
    }

    /// Prints each change until the task is cancelled or standard output is closed.
    ///
    /// - Throws: The failure of the first load if it does not pass by itself.
    private func follow(_ resource: Resource<Data>, _ statuses: LastStatus) async throws(RequestFailure) {
        var isFirstLoad = true
        for await change in resource.changes(loading: .ifNeeded) {
            let line = WatchLine(change, status: statuses.value, date: RequestClock.system.date)
            switch change.event {
            case .attached: continue
            case .requested where !printsLoads: continue
            default: break
            }
            try StandardStream.output.write((format == .text ? line.text : line.json) + "\n")
            if case .failed(let failure) = change.event, isFirstLoad, failure.decisive.reason.lasts { throw failure }
            if isFirstLoad, case .failed(let failure) = change.event { printHint(after: failure) }
            if line.endsLoad { isFirstLoad = false }
        }
        throw RequestFailure(.cancelled, "The watch ended.")
    }

    /// Says that the server may speak plain http, if the URL had no scheme.
    private func printHint(after failure: RequestFailure) {
        guard environment.file == nil, errors.format == .text,
            let hint = URLArgument.hint(for: request.url, after: failure)
        else { return }
        StandardStream.error.printLine(hint)
    }
}

/// The status of the response that arrived last. The loads of a watched resource follow one another, so it belongs to the
/// load that ends next.
private final class LastStatus: Sendable {
    private let status = Mutex<Int?>(nil)

    var value: Int? { status.withLock { $0 } }

    func set(_ value: Int) { status.withLock { $0 = value } }
}

extension RequestFailure.Reason {
    /// Whether a request that failed for this reason fails again until somebody changes the command, the credentials or
    /// the server's certificate.
    fileprivate var lasts: Bool {
        let lasting: [RequestFailure.Reason] = [
            .invalidRequest, .invalidPolicy, .trustChain, .trustHost, .pinMismatch, .unexpectedPeer, .tlsTooOld,
            .trustEvidence, .revoked, .hostRefused, .plaintextRefused, .authorization, .file,
        ]
        return lasting.contains(self)
    }
}
