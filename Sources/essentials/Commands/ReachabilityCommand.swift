import ArgumentParser
import ServiceEssentials

/// `essentials reachability`
struct ReachabilityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reachability",
        abstract: "Tell whether the system knows a way to a host, and by which interface.",
        discussion: """
            Looks the host's addresses up in the kernel's routing tables; nothing is sent to it. Prints one line: \
            "routed" (by way of a router), "direct" (the host would be on the interface's own network), "local" (an \
            address of this machine), "unreachable" with the reason, or "unknown" when the name was not resolved. A \
            way promises no answer: what lies behind the next router is not known. Without a host it is about the \
            default route: the way to 8.8.8.8 and 2001:4860:4860::8888, of which the better counts.

            As JSON each line is an object with "host" (if one was named), "status", "interface" (an object with \
            "index", "kind" and "name") and "error" (an object with "code" and "text").

            EXAMPLES
              essentials reachability
              essentials reachability api.example.com --watch
              essentials reachability 2001:db8::1 --format json

            EXIT CODES
              0 there is a way, or it is unknown; 1 unreachable, or the system refused to tell; 64 wrong usage or a \
            refused value; with --watch 130 Ctrl-C, 143 SIGTERM
            """)

    @Argument(help: "A host name, or an IPv4 or IPv6 address. (default: the default route)")
    var host: String?

    @Flag(help: "Print a line for each change, too, until a signal comes.")
    var watch = false

    /// The values of `--format`.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    @Option(name: .customLong("format"), help: "How a status is printed.")
    var format = Format.text

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

    /// Prints until a signal comes or the reader is gone.
    private func follow(_ tracker: ReachabilityTracker) async throws(RequestFailure) {
        do throws(RequestFailure) {
            try await Interruption.watch(removing: nil) { () async throws(RequestFailure) in
                var last = await tracker.settledStatus()
                try print(last)
                for await status in tracker.statuses where status != last {
                    last = status
                    try print(status)
                }
                throw RequestFailure(.cancelled, "The tracking has ended.")
            }
        } catch {
            guard let signal = error.underlying as? Interruption.Signal else { throw error }
            throw RequestFailure(.cancelled, "The watch was ended by a signal.", underlying: signal)
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
