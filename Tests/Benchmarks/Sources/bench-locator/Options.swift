internal import Figures

/// The command line of the program.
struct Options {
    static let help = """
        usage: bench-locator [options]
          --rounds N   how often everything is measured; medians are shown (default: 61)
          --smoke      one round of few operations, to see that all works; its figures mean nothing
          cold KIND    only the milliseconds that 1,000 services take in this process, registered as
                       \(ColdStart.Kind.allCases.map(\.rawValue).joined(separator: " or "))
          only NAME    nothing but the benchmark of this name, for ten seconds, to be looked at with a profiler
        """

    var rounds = 61
    var isSmoke = false
    /// The kind of registered types if only a cold start is measured.
    var cold: ColdStart.Kind?
    /// The only benchmark to run, for a profiler.
    var only: String?

    /// Parses the options; `nil` if only help was requested.
    static func parse(_ arguments: [String]) throws(BenchmarkError) -> Options? {
        var options = Options()
        var rest = arguments[...]
        while let name = rest.popFirst() {
            switch name {
            case "--help", "-h": return nil
            case "--smoke": options.isSmoke = true
            case "cold":
                guard let kind = rest.popFirst().flatMap({ ColdStart.Kind(rawValue: $0) }) else {
                    throw BenchmarkError("cold needs one of \(ColdStart.Kind.allCases.map(\.rawValue))")
                }
                options.cold = kind
            case "only": options.only = rest.popFirst()
            case "--rounds":
                guard let count = rest.popFirst().flatMap({ Int($0) }), (1...10_000).contains(count) else {
                    throw BenchmarkError("--rounds needs a number from 1 to 10000")
                }
                options.rounds = count
            default: throw BenchmarkError("unknown option \(name)")
            }
        }
        if options.isSmoke { options.rounds = 1 }
        return options
    }
}
