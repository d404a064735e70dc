import ArgumentParser
import ServiceEssentials

/// What the commands that send one request have in common.
protocol RequestCommand: AsyncParsableCommand {
    var method: HTTPRequest.Method { get }
    var request: RequestOptions { get }
    /// The body's options, of commands that take a body.
    var body: BodyOptions? { get }
    var trust: TrustOptions { get }
    var connection: ConnectionOptions { get }
    var output: OutputOptions { get }
}

extension RequestCommand {
    var body: BodyOptions? { nil }

    func validate() throws {
        if body?.parts.isEmpty == false, request.hasHeader("content-type") {
            throw ValidationError("Give --part or --header Content-Type, not both: the parts have a type of their own.")
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
            // What was reported is printed all the same; nothing more will be.
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
        // The transport has it for all that it sends.
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
        // The body of an unexpected answer is printed before it is a failure.
        sent.expectedStatus = .any
        sent.options = connection.transportOptions
        sent.redirects = connection.redirectPolicy
        return sent
    }

    /// A description with what every such command's help ends with.
    static func describe(_ name: String, _ abstract: String, _ examples: String) -> CommandConfiguration {
        CommandConfiguration(
            commandName: name, abstract: abstract,
            discussion: """
                The body goes to standard output byte for byte as it arrives; a compressed one is unpacked, unless a \
                header asks for an encoding. Redirects are followed, without credentials to another origin and never \
                from https to http. A status outside of --expect still prints the body, and ends with the error \
                "status".

                --user, --digest, --bearer, or else the variables ESSENTIALS_USER, ESSENTIALS_DIGEST and \
                ESSENTIALS_BEARER, authenticate at the URL's own origin; a header Authorization stands instead of the \
                variables. An environment's header fields go to its own origin too, and those given here stand instead \
                of them.

                EXAMPLES
                \(examples)

                EXIT CODES
                  0 done, 1 the request failed, 64 wrong usage or a refused value, 130 Ctrl-C
                """)
    }
}
