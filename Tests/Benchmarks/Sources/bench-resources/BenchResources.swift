// Measures the resource service, and reports which goals are met.
//
//     cd Tests/Benchmarks
//     swift build -c release && .build/release/bench-resources
//
// - looking up a resource, reading its flags and its snapshot, and `loadIfNeeded` of fresh content, compared with a
//   dictionary by URL behind a mutex and with the floor of a mutex and a reference;
// - a load, compared with the same request of the data-request service;
// - a thousand tasks that need one resource, compared with a thousand continuations;
// - an event to a thousand closures and sequences, and observing beside ten thousand others;
// - fetches, compared with their requests, and filtering cached models, compared with a loop;
// - entries of an outbox and blobs, compared with the system calls that they need;
// - the memory of a hundred thousand resources, and of many loads and observations.
//
// The sides alternate in one run, and the medians of their rounds are shown, because absolute figures drift with the
// machine. Allocations and growth are judged in every run: the exit status is 1 if one is over its goal.

internal import Figures
internal import Glibc

@main
struct BenchResources {
    static func main() async {
        var arguments = CommandLine.arguments.dropFirst()
        var (isSmoke, part) = (false, "")
        while let argument = arguments.popFirst() {
            switch argument {
            case "--smoke": isSmoke = true
            case "--only": part = arguments.popFirst() ?? ""
            default:
                print("usage: bench-resources [--smoke] [--only reading|loading|observing|fetching|storing|memory]")
                exit(argument == "--help" ? 0 : 2)
            }
        }
        do {
            let scale = Scale(isSmoke: isSmoke)
            let smoke = isSmoke ? "; smoke: the times mean nothing" : ""
            var table = Table("Resources", remark: "medians of \(scale.rounds) rounds\(smoke)")
            var rows: [Row] = []
            if ["", "reading"].contains(part) { rows += try await ReadingCost.measure(scale) }
            if ["", "loading"].contains(part) { rows += try await LoadingCost.measure(scale) }
            if ["", "observing"].contains(part) { rows += try await ObservingCost.measure(scale) }
            if ["", "fetching"].contains(part) { rows += try await FetchingCost.measure(scale) }
            if ["", "storing"].contains(part) { rows += try await StoringCost.measure(scale) }
            if ["", "memory"].contains(part) { rows += try await MemoryCost.measure(scale) }
            table.add(rows)
            print(table.text)
            let missed = rows.filter { $0.isJudged && !$0.isMet }
            for row in missed { print("over its goal: \(row.what)") }
            exit(missed.isEmpty ? 0 : 1)
        } catch {
            print("bench-resources: \(error)")
            exit(2)
        }
    }
}

/// How much is measured.
struct Scale: Sendable {
    let isSmoke: Bool

    var rounds: Int { isSmoke ? 3 : 15 }
    var operations: Int { isSmoke ? 2_000 : 200_000 }
    var loads: Int { isSmoke ? 200 : 5_000 }
    var resources: Int { isSmoke ? 5_000 : 100_000 }
    var growth: Int { isSmoke ? 20_000 : 1_000_000 }
}

/// The cost of one operation on one thread.
struct Cost {
    var nanoseconds: Double
    var allocations: Double
}

extension Cost {
    /// The medians of several rounds.
    static func medians(_ costs: [Cost]) -> Cost {
        Cost(nanoseconds: median(costs.map(\.nanoseconds)), allocations: median(costs.map(\.allocations)))
    }
}
