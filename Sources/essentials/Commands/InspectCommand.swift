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
        abstract: "Make a page of a HAR file, to look at its exchanges in a browser.",
        discussion: """
            Reads a HAR file of --har, a browser or a proxy, and writes one HTML file with the exchanges as a waterfall, their \
            header fields, bodies and times. The page needs no network, and sends nothing. It is as confidential as the file.

            EXAMPLES
              essentials get https://example.com/ --har example.har
              essentials inspect example.har --to example.html

            EXIT CODES
              0 success, 1 a file could not be read or written, 64 wrong usage
            """)

    @Argument(help: "A HAR file.", completion: .file())
    var file: String

    @Option(
        name: .customLong("to"),
        help: ArgumentHelp("The HTML file. (default: standard output)", valueName: "file"), completion: .file())
    var target: String?

    @OptionGroup(title: "Output") var errors: ErrorOptions

    func run() async throws {
        try await FailurePrinter(format: errors.format).run { () async throws(RequestFailure) in
            let har = try HAR(contentsOf: file)
            let page = InspectorReport(har, program: har.creator.name).page
            guard let target, target != "-" else { return try StandardStream.output.write(page) }
            if let old = try? FileStatus(of: target), let own = try? FileStatus(of: file), old.identity == own.identity
            {
                throw RequestFailure(
                    .invalidRequest, "The page would replace the HAR file.", remedy: "Name another file with --to.")
            }
            let output = try OutputFile(path: target, isPrivate: true)
            try Data(page.utf8).span.bytes.withUnsafeBytes { bytes throws(RequestFailure) in try output.write(bytes) }
            try output.commit()
        }
    }
}
