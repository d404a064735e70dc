import ArgumentParser
import EssentialsReachability
import ServiceEssentials

/// `essentials reachability`
struct ReachabilityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reachability",
        abstract: "Print whether the system has a route to a host, and over which interface.",
        discussion: """
            Looks up the host's addresses in the kernel's routing tables and sends nothing to the host. Prints one \
            line: "routed" (through a router), "direct" (on the interface's own network), "local" (an address of this \
            machine), "unreachable" with the reason, or "unknown" if the name could not be resolved. A route does not \
            guarantee that the host responds. Without a host, the command uses the better of the routes to 8.8.8.8 and \
            2001:4860:4860::8888 as the default route.

            With --format json each line is an object with "host" (if given), "status", "interface" (an object with \
            "index", "kind" and "name") and "error" (an object with "code" and "text").

            EXAMPLES
              essentials reachability
              essentials reachability api.example.com --watch
              essentials reachability 2001:db8::1 --format json

            EXIT CODES
              0 reachable or unknown; 1 unreachable, or the system refused the query; 64 wrong usage or an invalid \
            value; with --watch 130 Ctrl-C, 143 SIGTERM
            """)

    @Argument(help: "A host name, or an IPv4 or IPv6 address. (default: the default route)")
    var host: String?

    @Flag(help: "Also print a line for each change, until interrupted by a signal.")
    var watch = false

    @Option(name: .customLong("format"), help: "The output format.")
    var format = OutputFormat.text

    @OptionGroup(title: "Output") var errors: ErrorOptions

    func run() async throws {
        var isReachable = true
        try await FailurePrinter(format: errors.format).run { () async throws(RequestFailure) in
            let tracker = try makeTracker()
            defer { tracker.stop() }
            if watch { return try await follow(tracker) }
            let status = await tracker.settledStatus()
            try print(status)
            isReachable = status.isReachable()
        }
        if !isReachable { throw ExitCode.failure }
    }

    private func makeTracker() throws(RequestFailure) -> ReachabilityTracker {
        do throws(ReachabilityError) {
            guard let host else { return try ReachabilityTracker(.defaultRoute) }
            return try ReachabilityTracker(host: host)
        } catch {
            throw RequestFailure(
                error.reason == .invalidTarget ? .invalidRequest : .connection, error.message, remedy: error.remedy,
                underlying: error)
        }
    }

    /// Prints each status until a signal arrives or standard output is closed.
    private func follow(_ tracker: ReachabilityTracker) async throws(RequestFailure) {
        do throws(RequestFailure) {
            try await Interruption.watch(removing: nil) { () async throws(RequestFailure) in
                var last = await tracker.settledStatus()
                try print(last)
                for await status in tracker.statuses where status != last {
                    last = status
                    try print(status)
                }
                throw RequestFailure(.cancelled, "Reachability tracking ended.")
            }
        } catch {
            guard let signal = error.underlying as? Interruption.Signal else { throw error }
            throw RequestFailure(.cancelled, "A signal ended the watch.", underlying: signal)
        }
    }

    private func print(_ status: ReachabilityStatus) throws(RequestFailure) {
        let line =
            switch format {
            case .text: OneLine.text(status.description)
            case .json: ReachabilityJSON(host: host, status: status).line
            }
        try StandardStream.output.write(line + "\n")
    }
}
