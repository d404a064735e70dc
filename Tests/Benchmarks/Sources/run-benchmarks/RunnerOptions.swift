/// The command line of the runner.
struct RunnerOptions: Sendable {
    static let help = """
        usage: run-benchmarks [locator] [options]
          locator          measures only the service locator, which else comes last, unless workloads or clients are
                           named; goes with --smoke
          --workloads A,B  of \(Workload.known.map(\.name).joined(separator: ", "))
                           (default: all but the soaks)
          --clients A,B    of \(LoadClient.known.map(\.name).joined(separator: ", "))
                           (default: those that are built)
          --rounds N       how often each client runs; medians are shown (default: 5)
          --scale X        multiplies the number of requests (default: 1)
          --soak-requests N  how many requests a soak sends (default: 100000)
          --json FILE      also writes everything measured as JSON
          --smoke          one round of few requests, to see that all works; its figures mean nothing
        """

    var workloads: [String]?
    var clients: [String]?
    var rounds = 5
    var scale = 1.0
    var soakRequests = 100_000
    var jsonPath: String?
    var isSmoke = false
    var isLocatorOnly = false

    /// The size of the large file. With a smaller one, a second copy in memory could not be
    /// distinguished from the client itself.
    var largeMiB: Int { isSmoke ? 128 : 1024 }

    /// Whether the locator's benchmark runs too. It does not if workloads or clients are named.
    var includesLocator: Bool { isLocatorOnly || (workloads == nil && clients == nil) }

    /// Parses the options; `nil` if only help was requested.
    static func parse(_ arguments: [String]) throws(RunnerError) -> RunnerOptions? {
        var options = RunnerOptions()
        var rest = arguments[...]
        while let name = rest.popFirst() {
            switch name {
            case "--help", "-h": return nil
            case "--smoke": options.isSmoke = true
            case "locator": options.isLocatorOnly = true
            default:
                guard let value = rest.popFirst() else { throw RunnerError("\(name) is unknown or needs a value") }
                try options.set(name, to: value)
            }
        }
        if options.isLocatorOnly, let other = arguments.first(where: { !["locator", "--smoke"].contains($0) }) {
            throw RunnerError("\(other) means nothing to the locator's benchmark")
        }
        if options.isSmoke { options.rounds = 1 }
        return options
    }

    private mutating func set(_ name: String, to value: String) throws(RunnerError) {
        switch name {
        case "--workloads": workloads = value.split(separator: ",").map(String.init)
        case "--clients": clients = value.split(separator: ",").map(String.init)
        case "--json": jsonPath = value
        case "--rounds":
            guard let count = Int(value), (1...1000).contains(count) else {
                throw RunnerError("--rounds needs a number from 1 to 1000")
            }
            rounds = count
        case "--scale":
            guard let factor = Double(value), factor > 0, factor <= 100 else {
                throw RunnerError("--scale needs a number above 0, at most 100")
            }
            scale = factor
        case "--soak-requests":
            guard let count = Int(value), (1000...100_000_000).contains(count) else {
                throw RunnerError("--soak-requests needs a number from 1000 to 100000000")
            }
            soakRequests = count
        default: throw RunnerError("unknown option \(name)")
        }
    }
}
