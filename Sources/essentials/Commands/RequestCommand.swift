import ArgumentParser
import EssentialsHTTP
import EssentialsObservability
import ServiceEssentials

/// The common parts of the commands that send one request.
///
/// A group of options contains no other group: a debug build of ArgumentParser validates a group each time it is used, and
/// every group in it again, which took a third of a second for each start of the tool.
protocol RequestCommand: AsyncParsableCommand {
    var method: HTTPRequest.Method { get }
    var request: RequestOptions { get }
    var authorization: AuthorizationOptions { get }
    var environment: EnvironmentOptions { get }
    /// The body options; `nil` for commands without a body.
    var body: BodyOptions? { get }
    var trust: TrustOptions { get }
    var connection: ConnectionOptions { get }
    var retry: RetryOptions { get }
    var cookies: CookieOptions { get }
    /// The cache of models; `nil` for commands without one.
    var models: ModelCacheOptions? { get }
    /// The cache of responses; `nil` for commands without one.
    var responses: ResponseCacheOptions? { get }
    /// The outbox; `nil` for commands without one.
    var outbox: OutboxOptions? { get }
    var statuses: StatusOptions { get }
    var output: OutputOptions { get }
    var errors: ErrorOptions { get }
}

extension RequestCommand {
    var body: BodyOptions? { nil }
    var models: ModelCacheOptions? { nil }
    var responses: ResponseCacheOptions? { nil }
    var outbox: OutboxOptions? { nil }

    func validate() throws { try validateRequest() }

    /// Checks the options that depend on each other.
    func validateRequest() throws {
        try request.checkCredentials(authorization)
        if let body { try request.checkParts(of: body) }
        try models?.validate(beside: request, cookies, output)
        try responses?.validate(beside: request, cookies, models, output)
        try outbox?.validate(beside: output, cookies)
        try validatePreview()
    }

    /// Refuses options that send or read something else than the request that is shown.
    private func validatePreview() throws {
        guard let option = output.recording.preview?.option else { return }
        let others: [(name: String, isGiven: Bool)] = [
            ("--model-cache", models?.directory != nil), ("--cache", responses?.directory != nil),
            ("--outbox", outbox?.directory != nil), ("--oauth-token-url", authorization.tokenURL != nil),
        ]
        if let other = others.first(where: \.isGiven) {
            throw ValidationError("Give \(option) or \(other.name), not both.")
        }
    }

    /// Checks that there is a place for members of a JSON body. It is checked after the parser has seen every option,
    /// because the value of an unknown option looks like an item.
    private func validateMembers() throws {
        guard request.hasMembers else { return }
        guard let body else {
            throw ValidationError(
                "\(method.rawValue) has no body, so there is no place for name=text. Write name==text for the query.")
        }
        try request.checkMembers(beside: body)
    }

    func run() async throws {
        try validateMembers()
        try await output.failurePrinter(errors).run { () async throws(RequestFailure) in
            do throws(RequestFailure) {
                try await send()
            } catch {
                if environment.file == nil, !output.isSilent, errors.format == .text,
                    let hint = URLArgument.hint(for: request.url, after: error)
                {
                    StandardStream.endLine()
                    StandardStream.error.printLine(hint)
                }
                throw ClientCredentialsGrant.explained(error)
            }
        }
    }

    private func send() async throws(RequestFailure) {
        if let file = output.recording.file { try HAR.checkPlace(file) }
        let environment = try request.environmentInForce(environment)
        let sent = try makeRequest()
        let policy = try trust.policy(in: environment)
        let transport = try CurlTransport(trust: policy, configuration: connection.configuration())
        let recorder = output.recording.recorder
        let preview = output.makePreview(
            options: connection.curlOptions(showsSecrets: output.showsSecrets) + trust.curlOptions
                + request.curlOptions(authorization, output))
        let exchange = try makeExchange(sent, in: environment, policy, over: transport, recorder, preview)
        let log = log
        let reports = transport.trustReports
        let isSilent = output.isSilent
        let warnings = Task {
            for await report in reports {
                if report.isEnforced {
                    log?.refused(report)
                } else if !isSilent {
                    StandardStream.error.printLine("warning: " + OneLine.text(report.message))
                }
            }
        }
        var failure: RequestFailure?
        do throws(RequestFailure) {
            try await Interruption.watch(removing: exchange.temporaryPath) { () async throws(RequestFailure) in
                try await exchange.run()
            }
        } catch {
            failure = error
        }
        // Reports up to here are still printed; no further ones can arrive.
        warnings.cancel()
        await warnings.value
        if let preview, preview.isDone { return }
        if let file = output.recording.file, let recorder {
            do throws(RequestFailure) { try recorder.har.write(to: file) } catch {
                // The failure of the request says more.
                guard failure != nil else { throw error }
                if !isSilent { StandardStream.error.printLine("warning: " + OneLine.text(error.message)) }
            }
        }
        if let failure { throw failure }
    }

    private var log: VerboseLog? {
        output.isVerbose ? VerboseLog(showsSecrets: output.showsSecrets) : nil
    }

    private func makeExchange(
        _ sent: DataRequest, in environment: EnvironmentSnapshot, _ policy: TrustPolicy, over transport: CurlTransport,
        _ recorder: HARRecorder?, _ preview: RequestPreview?
    ) throws(RequestFailure) -> any Exchange {
        let cache = try responses?.cache()
        let service = try request.service(
            with: authorization, over: transport, in: environment, retry: retry.policy, cookies: cookies.storage(),
            cache: try cache.map { cache throws(RequestFailure) in
                (cache, try authorization.partition(with: policy, in: environment))
            }, log: log, recorder: recorder, preview: preview)
        var expecting = sent
        expecting.expectedStatus = StatusExpectation(statuses.expected.ranges)
        if let directory = outbox?.directory {
            return OutboxExchange(expecting, over: service, directory: directory, in: environment)
        }
        if let models, let directory = models.directory {
            return try ModelExchange(
                expecting, from: models.fetchSource, over: service, directory: directory,
                partition: authorization.partition(with: policy, in: environment), in: environment,
                maximumBody: connection.maximumBody?.bytes, output: output)
        }
        return StreamedExchange(
            request: sent, service: service, cache: cache, maximumBody: connection.maximumBody?.bytes,
            output: output, expected: statuses.expected,
            printsHead: output.includesHead || method == .head, target: try output.target(for: request.url))
    }

    private func makeRequest() throws(RequestFailure) -> DataRequest {
        var sent = try request.request(method, environment, body: body)
        if let body, !request.hasMembers, !output.isSilent { sent.uploadProgress = body.progress }
        sent.options = connection.transportOptions(recordsTrust: output.isVerbose)
        if request.removedFields.contains(where: { $0.lowercased() == "accept-encoding" }) {
            sent.options.decompresses = false
        }
        sent.redirects = connection.redirectPolicy
        sent.idempotencyKey = retry.idempotencyKey
        responses?.apply(to: &sent)
        if let field = cookies.field {
            sent.headerFields.append(try HTTPField.checked(name: "Cookie", value: field))
        }
        return sent
    }

    /// Creates a description with the help text that all these commands share.
    ///
    /// - Parameter further: A paragraph about this command alone; empty if there is none.
    static func describe(
        _ name: String, _ abstract: String, _ examples: String, further: String = ""
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: name, abstract: abstract,
            discussion: """
                The body is written to standard output as it arrives: unchanged through a pipe. On a terminal, JSON is \
                indented and colored, control characters are shown by their numbers, and a binary body is refused. A \
                compressed body is decompressed, unless a header field Accept-Encoding is given. Redirects are followed, but never from https to http, and \
                credentials are not sent to another origin. If the status is not in --expect, the body is printed \
                and the command fails with "status".

                Credentials come from --user, --digest, --bearer or --oauth-token-url, otherwise from ESSENTIALS_USER, \
                ESSENTIALS_DIGEST or ESSENTIALS_BEARER. They are sent only to the URL's own origin. A header field Authorization replaces \
                the variables. The header fields of an environment are sent only to its own origin, and --header \
                overrides them.\(further.isEmpty ? "" : "\n\n" + further)

                EXAMPLES
                \(examples)

                EXIT CODES
                  0 success, 1 the request failed, 64 wrong usage or an invalid value, 130 Ctrl-C, 141 closed output, \
                143 SIGTERM
                """)
    }
}
