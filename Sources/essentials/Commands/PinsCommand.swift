import ArgumentParser
import ServiceEssentials

/// `essentials pins`
struct PinsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pins",
        abstract: "Print the pins of the certificates of a server or a file.",
        discussion: """
            Connects to the server, reads its certificates, and disconnects without sending a request. For each \
            certificate, leaf first, it prints two lines of Swift for a policy: the pin of the public key and the pin \
            of the certificate. Prefer public keys, because they survive a renewal with the same key. With --format json \
            it prints a complete policy file for --policy, with the public keys of the leaf and its issuer. Untrusted \
            chains and certificates that expire within 30 days produce a warning on standard error.

            EXAMPLES
              essentials pins example.com
              essentials pins '[::1]:8443' --anchor ca.pem
              essentials pins ./server.pem
              essentials pins --file server.pem
              essentials pins example.com --format json > policy.json

            EXIT CODES
              0 success, 1 the server or file could not be read, 64 wrong usage or an invalid value
            """)

    @Argument(
        help: "A server, its https URL, or the path of a PEM file that begins with /, ./ or ../.",
        completion: .file())
    var source: String

    @Flag(name: .customLong("file"), help: "Treat the argument as the path of a PEM file in any case.")
    var isFile = false

    @OptionGroup(title: "Trust") var trust: AnchorOptions

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp(
            "For connect and handshake together, such as 300ms or 5s; a plain number means seconds. (default: 10s)",
            valueName: "time"), transform: DurationArgument.read)
    var timeout: Duration?

    /// The values of `--format`.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case swift, json
    }

    @Option(name: .customLong("format"), help: "The output format.")
    var format = Format.swift

    @OptionGroup(title: "Output") var errors: ErrorOptions

    func run() async throws {
        try await FailurePrinter(format: errors.format).run { () async throws(RequestFailure) in
            let report = try makeReport()
            let lines = format == .json ? report.policyLines : report.lines
            for line in lines { try StandardStream.output.write(line + "\n") }
            for warning in report.warnings { StandardStream.error.printLine("warning: " + warning) }
        }
    }

    private func makeReport() throws(RequestFailure) -> PinsReport {
        switch try PinsSource(source, isFile: isFile) {
        case .file(let path):
            return PinsReport(chain: try CertificateChain(PEM(contentsOfFile: path)), host: nil, anchors: nil)
        case .server(let origin):
            let compiled = try CompiledTrust(TrustPolicy(anchors: trust.files.anchors()))
            let chain = try CertificateChain.presented(
                by: origin.host, port: origin.port, trust: compiled, timeout: timeout ?? .seconds(10))
            return PinsReport(chain: chain, host: origin.host, anchors: trust.files)
        }
    }
}
