import ArgumentParser
import ServiceEssentials

/// What the commands that send one request have in common.
protocol RequestCommand: AsyncParsableCommand {
    /// The method that the command is named after.
    static var method: HTTPRequest.Method { get }
    var request: RequestOptions { get }
    /// The body's options, of commands that take a body.
    var body: BodyOptions? { get }
    var trust: TrustOptions { get }
    var connection: ConnectionOptions { get }
    var output: OutputOptions { get }
}

extension RequestCommand {
    var body: BodyOptions? { nil }

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
        var fields = try request.headerFields()
        let content = try body?.content() ?? .none
        if body?.json != nil, fields[.contentType] == nil { fields[.contentType] = "application/json" }
        let sent = TransportRequest(
            Self.method, try request.target(), headerFields: fields, body: content,
            options: connection.transportOptions)
        let policy = try trust.policy()
        let transport = try CurlTransport(trust: policy, configuration: connection.configuration())
        return StreamedExchange(
            request: sent, transport: transport, redirects: connection.redirectPolicy,
            maximumBody: connection.maximumBody?.bytes, expected: output.expected,
            printsHead: output.includesHead || Self.method == .head, printsTimings: output.printsTimings,
            target: try output.target())
    }

    /// A description with what every such command's help ends with.
    static func describe(_ abstract: String, _ examples: String) -> CommandConfiguration {
        CommandConfiguration(
            commandName: method.rawValue.lowercased(), abstract: abstract,
            discussion: """
                The body goes to standard output byte for byte as it arrives; a compressed one is unpacked, unless a \
                header asks for an encoding. Redirects are followed, without credentials to another origin and never \
                from https to http. A status outside of --expect still prints the body, and ends with the error \
                "status".

                EXAMPLES
                \(examples)

                EXIT CODES
                  0 done, 1 the request failed, 64 wrong usage or a refused value, 130 Ctrl-C
                """)
    }
}
