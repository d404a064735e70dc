import ArgumentParser
import EssentialsLocator
import FoundationEssentials
import ServiceEssentials

/// `essentials health`
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Print how the services of a running program are.",
        discussion: """
            Asks a health route of a program for the report of its locator, and prints a line for each service. The URL is that \
            of the route, or the address with a token that an inspector of the program has printed.

            With --json the report is printed as the program has sent it.

            EXAMPLES
              essentials health http://127.0.0.1:8080/health
              essentials health 'http://127.0.0.1:8080/inspector/?token=…'

            EXIT CODES
              0 the program is ready; 1 it is not, or it did not respond with a report; 64 wrong usage or an invalid value
            """)

    @Argument(help: "The URL of a health route, or of an inspector with its token.")
    var url: String

    @Flag(name: .customLong("json"), help: "Print the report as JSON.")
    var printsJSON = false

    @Option(
        name: .customLong("unix-socket"),
        help: ArgumentHelp("Connect to this Unix-domain socket, whatever the host of the URL is.", valueName: "path"),
        completion: .file())
    var unixSocket: String?

    @OptionGroup(title: "Output") var errors: ErrorOptions

    func run() async throws {
        var isReady = true
        try await FailurePrinter(format: errors.format).run { () async throws(RequestFailure) in
            let (report, data) = try await fetch()
            isReady = report.isReady
            try StandardStream.output.write(
                printsJSON
                    ? String(decoding: data, as: UTF8.self) + "\n" : Self.lines(report).map { $0 + "\n" }.joined())
        }
        if !isReady { throw ExitCode.failure }
    }

    private func fetch() async throws(RequestFailure) -> (HealthReport, Data) {
        // A program that is not ready says so with its report.
        let data = try await RunningProgram(url, socket: unixSocket).get("health", expecting: [200...200, 503...503])
        do {
            return (try JSONDecoder().decode(HealthReport.self, from: data), data)
        } catch {
            throw RequestFailure(
                .decoding, "The response is no report of a locator's health.",
                remedy: "Pass the URL of a route that sends what ServiceLocator.health(within:) returns.",
                phase: .receiving, underlying: error)
        }
    }

    private static func lines(_ report: HealthReport) -> [String] {
        let state = report.isReady ? "ready" : report.isAlive ? "not ready" : "closed"
        let head = "\(VisibleText.line(report.locator)): \(state), \(report.status.rawValue)"
        let rows = report.services.map { entry in
            let facts = entry.health.facts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            let text = ([entry.health.message].compactMap { $0 } + facts).joined(separator: "; ")
            return [entry.health.status.rawValue, entry.service, text]
        }
        return [head] + TextTable.lines(rows)
    }
}
