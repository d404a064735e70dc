import ArgumentParser
import EssentialsHTTP
import ServiceEssentials

/// `essentials har`
struct HARCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "har",
        abstract: "Print the exchanges of a HAR file as a waterfall.",
        discussion: """
            Reads a HAR file of --har, a browser or a proxy, and prints a line for each exchange: when it began, its method, \
            status and duration, when which part of it happened, and its URL. A status of 0 means that there was no response.

            The parts are b (blocked in a queue), d (name resolution), c (connect, with TLS), s (send), w (wait for the \
            first byte) and r (receive).

            EXAMPLES
              essentials get https://example.com/ --har example.har
              essentials har example.har
              essentials har example.har --failed

            EXIT CODES
              0 success, 1 the file could not be read, 64 wrong usage
            """)

    @Argument(help: "A HAR file.", completion: .file())
    var file: String

    @Flag(name: .customLong("failed"), help: "Only exchanges without a response, or with a status from 400 on.")
    var printsFailures = false

    @OptionGroup(title: "Output") var errors: ErrorOptions

    func run() async throws {
        try await FailurePrinter(format: errors.format).run { () async throws(RequestFailure) in
            let har = try HAR(contentsOf: file)
            let lines = WaterfallText(har, onlyFailures: printsFailures).lines
            try StandardStream.output.write(lines.map { $0 + "\n" }.joined())
        }
    }
}
