import ArgumentParser
import ServiceEssentials

/// `essentials pins`
struct PinsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pins",
        abstract: "Print the pins of a server's certificates, or of those in a file.",
        discussion: """
            Connects, looks at the certificates, sends no request and hangs up. For each certificate, leaf first, there \
            are two lines of Swift to paste into a policy: the pin of its public key and its own. Prefer public keys: \
            they survive a renewal with the same key. As JSON it is a whole policy file for --policy, with the keys of \
            the leaf and of its issuer. A chain that is not trusted, and a certificate that expires within 30 days, \
            come with a warning on standard error.

            EXAMPLES
              essentials pins example.com
              essentials pins '[::1]:8443' --anchor ca.pem
              essentials pins ./server.pem
              essentials pins --file server.pem
              essentials pins example.com --format json > policy.json

            EXIT CODES
              0 printed, 1 the server or file could not be read, 64 wrong usage or a refused value
            """)

    @Argument(help: "A server, the https URL of one, or a PEM file whose path begins with /, ./ or ../.")
    var source: String

    @Flag(name: .customLong("file"), help: "The argument is the path of a PEM file, however it begins.")
    var isFile = false

    @OptionGroup(title: "Trust") var anchorFiles: AnchorOptions

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp(
            "For connection and handshake, such as 300ms, 5s; a plain number is seconds. (default: 10s)",
            valueName: "time"), transform: DurationArgument.read)
    var timeout: Duration?

    /// The values of `--format`.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case swift, json
    }

    @Option(name: .customLong("format"), help: "How the pins are printed.")
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
            let trust = try CompiledTrust(TrustPolicy(anchors: anchorFiles.anchors()))
            let chain = try CertificateChain.presented(
                by: origin.host, port: origin.port, trust: trust, timeout: timeout ?? .seconds(10))
            return PinsReport(chain: chain, host: origin.host, anchors: anchorFiles)
        }
    }
}
