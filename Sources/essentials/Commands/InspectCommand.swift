import ArgumentParser
import EssentialsHTTP
import EssentialsInspector
import EssentialsStorage
import FoundationEssentials
import ServiceEssentials

/// `essentials inspect`
struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Make a page of a HAR file or of a running program, to look at its exchanges in a browser.",
        discussion: """
            Reads a HAR file of --har, a browser or a proxy, and writes one HTML file with the exchanges as a waterfall, their \
            header fields, bodies and times. The page needs no network, and sends nothing. It is as confidential as the file.

            The address with a token that the inspector of a running program has printed can take the place of the file. The \
            page then also has the program's connections, resources, caches and services at this moment.

            EXAMPLES
              essentials get https://example.com/ --har example.har
              essentials inspect example.har --to example.html
              essentials inspect 'http://127.0.0.1:8080/?token=…' --to shop.html

            EXIT CODES
              0 success, 1 a file could not be read or written, or the program did not respond with a report, 64 wrong usage
            """)

    @Argument(
        help: ArgumentHelp("A HAR file, or the address of an inspector with its token.", valueName: "file-or-url"),
        completion: .file())
    var source: String

    @Option(
        name: .customLong("unix-socket"),
        help: ArgumentHelp("Connect to this Unix-domain socket, whatever the host of the URL is.", valueName: "path"),
        completion: .file())
    var unixSocket: String?

    @Option(
        name: .customLong("to"),
        help: ArgumentHelp("The HTML file. (default: standard output)", valueName: "file"), completion: .file())
    var target: String?

    @OptionGroup(title: "Output") var errors: ErrorOptions

    func run() async throws {
        try await FailurePrinter(format: errors.format).run { () async throws(RequestFailure) in
            let page = try await report().page
            guard let target, target != "-" else { return try StandardStream.output.write(page) }
            if !isAddress, let old = try? FileStatus(of: target), let own = try? FileStatus(of: source),
                old.identity == own.identity
            {
                throw RequestFailure(
                    .invalidRequest, "The page would replace the HAR file.", remedy: "Name another file with --to.")
            }
            let output = try OutputFile(path: target, isPrivate: true)
            try Data(page.utf8).span.bytes.withUnsafeBytes { bytes throws(RequestFailure) in try output.write(bytes) }
            try output.commit()
        }
    }

    /// Whether the source is an address and no file. A file whose name begins like one is written with `./`.
    private var isAddress: Bool { RunningProgram.isAddress(source) }

    private func report() async throws(RequestFailure) -> InspectorReport {
        guard isAddress else {
            let har = try HAR(contentsOf: source)
            return InspectorReport(har, program: har.creator.name)
        }
        let program = try RunningProgram(source, socket: unixSocket)
        let data = try await program.get("report.json", expecting: [200...200])
        do {
            return try JSONDecoder().decode(InspectorReport.self, from: data)
        } catch {
            throw RequestFailure(
                .decoding, "The response is no report of an inspector.",
                remedy: "Pass the address that the inspector of the program has printed, with its token.",
                phase: .receiving, underlying: error)
        }
    }

    func validate() throws {
        if unixSocket != nil, !isAddress { throw ValidationError("--unix-socket needs an address and no file.") }
    }
}
