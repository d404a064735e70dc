// Measures the stages of the data-request service under load, and reports which goals are met.
//
//     cd Tests/Benchmarks
//     swift build -c release && .build/release/bench-stages
//
// - a thousand concurrent requests whose token has expired;
// - an outage of 60 seconds at a thousand requests a second, and the recovery after it, on a clock that is moved by hand;
// - the recovery of a thousand clients of one service, each of which sends request after request;
// - a jar of ten thousand cookies;
// - a thousand equal requests at once;
// - the memory of many requests that pass all stages.
//
// Counts and growth are judged in every run: the exit status is 1 if one is over its goal. Times are only shown.

internal import Figures
internal import Glibc

@main
struct BenchStages {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        let isSmoke = arguments.contains("--smoke")
        guard arguments.allSatisfy({ $0 == "--smoke" }) else {
            print("usage: bench-stages [--smoke]")
            exit(arguments.contains("--help") ? 0 : 2)
        }
        do {
            var rows = try await ExpiredTokens.measure()
            rows += try await Outage.measure(seconds: isSmoke ? 10 : 60)
            rows += try await Recovery.measure(seconds: isSmoke ? 10 : 60)
            rows += try await CookieCost.measure(rounds: isSmoke ? 3 : 15)
            rows += try await EqualRequests.measure()
            rows += try await Growth.measure(requests: isSmoke ? 20_000 : 100_000)
            var table = Table("Stages", remark: isSmoke ? "smoke: the times mean nothing" : "one run")
            table.add(rows)
            print(table.text)
            let missed = rows.filter { $0.isJudged && !$0.isMet }
            for row in missed { print("over its goal: \(row.what)") }
            exit(missed.isEmpty ? 0 : 1)
        } catch {
            print("bench-stages: \(error)")
            exit(2)
        }
    }
}
