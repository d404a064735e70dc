import ArgumentParser
import ServiceEssentials

/// `essentials pins`
struct PinsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pins",
        abstract: "Print the pins of a server's certificates, or of those in a file, as Swift code.",
        discussion: """
            Connects, looks at the certificates, sends no request and hangs up. For each certificate, leaf first, there \
            are two lines to paste into a policy: its public key's pin and its own. Prefer public keys: they survive a \
            renewal with the same key. A chain that is not trusted is printed all the same, with a warning on standard \
            error.

            EXAMPLES
              essentials pins example.com
              essentials pins '[::1]:8443' --anchor ca.pem
              essentials pins server.pem

            EXIT CODES
              0 printed, 1 the server or file could not be read, 64 wrong usage or a refused value
            """)

    @Argument(help: "A server, the https URL of one, or a PEM file.")
    var source: String

    @OptionGroup(title: "Trust") var anchorFiles: AnchorOptions

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp(
            "For connection and handshake, such as 300ms, 5s; a plain number is seconds. (default: 10s)",
            valueName: "time"), transform: DurationArgument.read)
    var timeout: Duration?

    @OptionGroup(title: "Output") var errors: ErrorOptions

    func run() async throws {
        try await FailurePrinter(format: errors.format).run { () async throws(RequestFailure) in
            let report = try makeReport()
            for line in report.lines { try StandardStream.output.write(line + "\n") }
            if let distrust = report.chain.distrust {
                StandardStream.error.printLine("warning: " + FailurePrinter.text(of: distrust))
            }
        }
    }

    private func makeReport() throws(RequestFailure) -> PinsReport {
        switch try PinsSource(source) {
        case .file(let path):
            return PinsReport(chain: try CertificateChain(PEM(contentsOfFile: path)), isFile: true)
        case .server(let origin):
            let trust = try CompiledTrust(TrustPolicy(anchors: anchorFiles.anchors()))
            let chain = try CertificateChain.presented(
                by: origin.host, port: origin.port, trust: trust, timeout: timeout ?? .seconds(10))
            return PinsReport(chain: chain, isFile: false)
        }
    }
}
