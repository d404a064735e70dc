import ArgumentParser
import ServiceEssentials

/// The common parts of the commands that send one request.
protocol RequestCommand: AsyncParsableCommand {
    var method: HTTPRequest.Method { get }
    var request: RequestOptions { get }
    /// The body options; `nil` for commands without a body.
    var body: BodyOptions? { get }
    var trust: TrustOptions { get }
    var connection: ConnectionOptions { get }
    var output: OutputOptions { get }
}

extension RequestCommand {
    var body: BodyOptions? { nil }

    func validate() throws {
        if body?.parts.isEmpty == false, request.hasHeader("content-type") {
            throw ValidationError("Give --part or --header Content-Type, not both. --part sets its own content type.")
        }
    }

    func run() async throws {
        try await FailurePrinter(format: output.errorFormat).run { () async throws(RequestFailure) in
            let exchange = try makeExchange()
            let reports = exchange.transport.trustReports
            let warnings = Task {
                for await report in reports where !report.isEnforced {
                    StandardStream.error.printLine("warning: " + OneLine.text(report.message))
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
            if let failure { throw failure }
        }
    }

    private func makeExchange() throws(RequestFailure) -> StreamedExchange {
        var environment = try request.environmentInForce()
        let sent = try makeRequest()
        let policy = try trust.policy(in: environment)
        let credentials = request.hasHeader("authorization") ? nil : try request.authorization.credentials()
        let transport = try CurlTransport(trust: policy, configuration: connection.configuration())
        // The transport already enforces this policy for every request.
        environment.trust = nil
        var configuration = HTTPDataRequestService.Configuration()
        configuration.userAgent = EssentialsTool.userAgent
        let service = HTTPDataRequestService(
            environment: ConstantEnvironment(environment), transport: transport, configuration: configuration)
        if let credentials { service.setAuthorization(credentials) }
        return StreamedExchange(
            request: sent, service: service, transport: transport,
            maximumBody: connection.maximumBody?.bytes, expected: output.expected,
            printsHead: output.includesHead || method == .head, printsTimings: output.printsTimings,
            target: try output.target())
    }

    private func makeRequest() throws(RequestFailure) -> DataRequest {
        var sent = try request.request(method)
        if let body {
            sent.body = try body.content()
            sent.uploadProgress = body.progress
            if sent.headerFields[.contentType] == nil {
                sent.headerFields[.contentType] = body.standardType?.description
            }
        }
        // The body of an unexpected response is printed before the command fails.
        sent.expectedStatus = .any
        sent.options = connection.transportOptions
        sent.redirects = connection.redirectPolicy
        return sent
    }

    /// Creates a description with the help text that all these commands share.
    static func describe(_ name: String, _ abstract: String, _ examples: String) -> CommandConfiguration {
        CommandConfiguration(
            commandName: name, abstract: abstract,
            discussion: """
                The body is written to standard output as it arrives. A compressed body is decompressed, unless a \
                header field Accept-Encoding is given. Redirects are followed, but never from https to http, and \
                credentials are not sent to another origin. If the status is not in --expect, the body is printed \
                and the command fails with "status".

                Credentials come from --user, --digest or --bearer, otherwise from ESSENTIALS_USER, ESSENTIALS_DIGEST \
                or ESSENTIALS_BEARER. They are sent only to the URL's own origin. A header field Authorization replaces \
                the variables. The header fields of an environment are sent only to its own origin, and --header \
                overrides them.

                EXAMPLES
                \(examples)

                EXIT CODES
                  0 success, 1 the request failed, 64 wrong usage or an invalid value, 130 Ctrl-C, 143 SIGTERM
                """)
    }
}
