internal import Figures

/// The command line of the program.
struct Options {
    static let help = """
        usage: bench-requests [options]
          --rounds N   how often small requests are measured; medians are shown (default: 41)
          --smoke      few rounds of few requests, to see that all works; its figures mean nothing
          --only A,B   of null, stages, composition, inspector, json, definition,
                       upload (default: all)
          --send N     only sends N small requests, to be counted from outside
        """

    var rounds = 41
    var isSmoke = false
    /// The number of requests to send without measuring them; `nil` to measure.
    var sentOnly: Int?
    var parts: Set<String> = ["null", "stages", "composition", "inspector", "json", "definition", "upload"]

    /// The size of the sent file.
    var uploadMiB: Int { isSmoke ? 8 : 1024 }
    /// The number of times that each client sends it.
    var uploadRounds: Int { isSmoke ? 1 : 9 }

    /// Parses the options; `nil` if only help was requested.
    static func parse(_ arguments: [String]) throws(BenchmarkError) -> Options? {
        var options = Options()
        var rest = arguments[...]
        while let name = rest.popFirst() {
            switch name {
            case "--help", "-h": return nil
            case "--smoke": options.isSmoke = true
            case "--rounds":
                guard let count = rest.popFirst().flatMap({ Int($0) }), (1...10_000).contains(count) else {
                    throw BenchmarkError("--rounds needs a number from 1 to 10000")
                }
                options.rounds = count
            case "--only":
                let names = Set((rest.popFirst() ?? "").split(separator: ",").map(String.init))
                guard !names.isEmpty, names.isSubset(of: options.parts) else {
                    throw BenchmarkError("--only needs some of \(options.parts.sorted().joined(separator: ", "))")
                }
                options.parts = names
            case "--send":
                guard let count = rest.popFirst().flatMap({ Int($0) }), (1...100_000_000).contains(count) else {
                    throw BenchmarkError("--send needs a number from 1 to 100000000")
                }
                options.sentOnly = count
            default: throw BenchmarkError("unknown option \(name)")
            }
        }
        if options.isSmoke { options.rounds = 3 }
        return options
    }
}
