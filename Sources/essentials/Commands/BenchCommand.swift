import ArgumentParser
import EssentialsTools
import ServiceEssentials

/// `essentials bench`
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Load a server with many requests, and measure rate and latencies.",
        discussion: """
            Sends the same request again and again, with --concurrency requests at a time, until --requests were sent \
            or --duration is over. Use it only on servers that you are allowed to load.

            The load is a closed loop: each of the requests in flight is followed by the next one when its response is \
            complete. A slow server therefore receives fewer requests, and the latencies do not contain the time for \
            which requests would have waited if they had arrived at a steady rate. A latency is the time from the \
            start of a request to the last byte of its body, with connection and handshake if it opens a connection. \
            Bodies are read and discarded. Redirects are not followed.

            Trust options, pins, proxies and credentials have the same effect as in other commands. The tool's own \
            processor time is printed too: if it comes near one core, the tool may be the bottleneck. Ctrl-C ends the \
            load and prints what was measured. Memory use does not grow with the number of requests.

            EXAMPLES
              essentials bench https://localhost:8443/ -c 64 -n 10000 --anchor ca.pem
              essentials bench http://127.0.0.1:8080/users -z 30s --warmup 5s
              essentials bench https://localhost:8443/users -X PUT --json '{"name": "Ada"}' --anchor ca.pem
              essentials bench https://localhost:8443/ --pin sha256/… --pin sha256/… --format json

            EXIT CODES
              0 every response had an expected status, 1 a request failed or a status was not expected, 64 wrong \
            usage or an invalid value, 130 Ctrl-C, 143 SIGTERM
            """)

    @OptionGroup(title: "Load") var load: LoadOptions

    @Option(
        name: [.customShort("X", allowingJoined: true), .customLong("request")],
        help: ArgumentHelp("The method. (default: GET, or POST with a body)", valueName: "method"),
        transform: MethodArgument.read)
    var method: HTTPRequest.Method?

    @OptionGroup var statuses: StatusOptions

    @OptionGroup(title: "Request") var request: RequestOptions
    @OptionGroup(title: "Request") var authorization: AuthorizationOptions
    @OptionGroup(title: "Request") var environment: EnvironmentOptions
    @OptionGroup(title: "Body") var content: BodyOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Connection") var connection: ConnectionOptions

    @Option(name: .customLong("format"), help: "The output format.")
    var format = OutputFormat.text

    @OptionGroup(title: "Output") var errors: ErrorOptions

    func validate() throws {
        try request.checkCredentials(authorization)
        try request.checkParts(of: content)
        try request.checkMembers(beside: content)
        if connection.maximumRedirects != nil { throw ValidationError("bench does not follow redirects.") }
        if connection.maximumBody != nil {
            throw ValidationError("bench discards bodies, so --max-body has no effect.")
        }
    }

    func run() async throws {
        try await FailurePrinter(format: errors.format).run { () async throws(RequestFailure) in
            let (service, transport) = try makeService()
            let bench = BenchLoad(request: try makeRequest(), service: service, concurrency: load.concurrency)
            let warnings = TrustWarnings(transport.trustReports)
            let progress = BenchProgress(of: bench)
            var failure: RequestFailure?
            do throws(RequestFailure) {
                try await Interruption.watch(removing: nil) { [self] () async throws(RequestFailure) in
                    try await measure(bench, progress)
                }
            } catch {
                let signal = error.underlying as? Interruption.Signal
                failure = signal.map { RequestFailure(.cancelled, "A signal ended the load.", underlying: $0) } ?? error
            }
            progress.end()
            await service.shutdown()
            await warnings.end()
            if let failure { throw failure }
        }
    }

    /// Runs the load and prints its result.
    ///
    /// - Throws: `cancelled` after a signal, the failure of the output, and the most frequent reason if a request failed
    ///   or a status was not expected.
    private func measure(_ bench: BenchLoad, _ progress: BenchProgress) async throws(RequestFailure) {
        if let warmup = load.warmup {
            _ = await bench.run(BenchLoad.Limits(requests: nil, duration: warmup))
        }
        let result = await bench.run(load.limits)
        progress.end()
        let lines =
            switch format {
            case .text: BenchReport(result: result, width: Terminal.width).lines
            case .json: [BenchJSON(result).line]
            }
        try StandardStream.output.write(lines.map { $0 + "\n" }.joined())
        if result.earlyEnd == .interrupted { throw RequestFailure(.cancelled, "The load was interrupted.") }
        let (failed, unexpected) = (result.record.failureCount, result.record.unexpectedCount(statuses.expected))
        guard failed + unexpected > 0 else { return }
        throw RequestFailure(
            result.record.rankedFailures.first?.reason ?? .status,
            "Of \(result.record.requestCount) requests, \(failed) failed and \(unexpected) had an unexpected "
                + "status.",
            remedy: "See the failures and statuses on standard output; --expect accepts statuses.", phase: .receiving)
    }

    private func makeService() throws(RequestFailure) -> (HTTPDataRequestService, CurlTransport) {
        let environment = try request.environmentInForce(environment)
        var engine = try connection.configuration()
        engine.connectionsPerOrigin = load.concurrency
        engine.requestsInFlight = max(engine.requestsInFlight, load.concurrency)
        engine.connectionCacheSize = max(engine.connectionCacheSize, load.concurrency)
        let transport = try CurlTransport(trust: trust.policy(in: environment), configuration: engine)
        let service = try request.service(with: authorization, over: transport, in: environment, log: nil)
        return (service, transport)
    }

    private func makeRequest() throws(RequestFailure) -> DataRequest {
        let hasBody = request.hasMembers || !content.given.isEmpty
        var sent = try request.request(method ?? (hasBody ? .post : .get), environment, body: content)
        sent.options = connection.transportOptions(recordsTrust: false)
        var connection = connection
        connection.followsNoRedirect = true
        sent.redirects = connection.redirectPolicy
        return sent
    }
}
