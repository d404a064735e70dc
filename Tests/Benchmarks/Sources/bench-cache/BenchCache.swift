// Measures the response cache, and reports which goals are met.
//
//     cd Tests/Benchmarks
//     swift build -c release && .build/release/bench-cache [--peers PYTHON | --only PART]
//
// It measures these parts, or one of them:
// - hits: hits in memory beside the same GET over a transport that responds at once, on one core and on two, and responses
//   that are stored;
// - streams: bodies that are stored while they are streamed from a real server;
// - files: hits in files, responses that are stored in files too, and the start with many files;
// - herd: a thousand requests at once for a stale response;
// - growth: the memory for many URLs;
// - traces: the share of hits in traces of requests, beside other orders of eviction with the same budget.
//
// With `--peers`, it compares hits a second with caches of Python; see `python/cache-peers` for what they need.
//
// With `--profile plain|hits|stores|misses COUNT` it only sends that many requests of one kind, for a profiler.
//
// Counts, memory and shares are judged in every run: the exit status is 1 if one misses its goal. Times are only shown.

internal import Figures
internal import Glibc

@main
struct BenchCache {
    static func main() async {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let python = value(of: "--peers", &arguments)
        let only = value(of: "--only", &arguments)
        if arguments.count == 3, arguments[0] == "--profile", let count = Int(arguments[2]),
            let kind = HitCost.Kind(rawValue: arguments[1])
        {
            return await profile(kind, count)
        }
        let isSmoke = arguments.contains("--smoke")
        guard arguments.allSatisfy({ $0 == "--smoke" }), python == nil || only == nil,
            only.map({ Part(rawValue: $0) != nil }) ?? true
        else {
            let parts = Part.allCases.map(\.rawValue).joined(separator: "|")
            print("usage: bench-cache [--smoke] [--peers PYTHON], or bench-cache [--smoke] --only \(parts)")
            print("       bench-cache --profile plain|hits|stores|misses COUNT")
            exit(arguments.contains("--help") ? 0 : 2)
        }
        do {
            var rows: [Row] = []
            for part in Part.allCases where only == nil || only == part.rawValue {
                rows += try await part.measure(isSmoke: isSmoke)
            }
            if let python, let memory = rows.first(where: { $0.what.hasSuffix("hit in memory, 1 KiB") })?.value,
                let files = rows.first(where: { $0.what.hasPrefix("hit in files") })?.value
            {
                rows += try Peers.measure(python, requests: isSmoke ? 500 : 5_000, memory: memory, files: files)
            }
            var table = Table("Response cache", remark: isSmoke ? "smoke: the times mean nothing" : "one run")
            table.add(rows)
            print(table.text)
            let missed = rows.filter { $0.isJudged && !$0.isMet }
            for row in missed { print("missed its goal: \(row.what)") }
            exit(missed.isEmpty ? 0 : 1)
        } catch {
            print("bench-cache: \(error)")
            exit(2)
        }
    }

    private enum Part: String, CaseIterable {
        case hits, streams, files, herd, growth, traces

        func measure(isSmoke: Bool) async throws -> [Row] {
            switch self {
            case .hits: try await HitCost.measure(requests: isSmoke ? 10_000 : 200_000)
            case .streams: try await StreamCost.measure(isSmoke: isSmoke)
            case .files:
                try await DiskCost.measure(requests: isSmoke ? 1_000 : 20_000, urls: isSmoke ? 500 : 20_000)
            case .herd: try await Herd.measure()
            case .growth: try await Growth.measure(urls: isSmoke ? 30_000 : 1_000_000)
            case .traces: try await EvictionTraces.measure(requests: isSmoke ? 20_000 : 300_000)
            }
        }
    }

    /// Removes an option with its value from the arguments, and returns the value.
    private static func value(of option: String, _ arguments: inout [String]) -> String? {
        guard let index = arguments.firstIndex(of: option), index + 1 < arguments.count else { return nil }
        defer { arguments.removeSubrange(index...(index + 1)) }
        return arguments[index + 1]
    }

    private static func profile(_ kind: HitCost.Kind, _ count: Int) async {
        do {
            print("\(kind.rawValue): \(try await HitCost.time(kind, requests: count)) us")
        } catch {
            print("bench-cache: \(error)")
            exit(2)
        }
    }
}
