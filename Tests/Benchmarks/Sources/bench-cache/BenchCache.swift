// Measures the response cache, and reports which goals are met.
//
//     cd Tests/Benchmarks
//     swift build -c release && .build/release/bench-cache [--peers PYTHON]
//
// - hits in memory beside the same GET over a transport that responds at once, on one core and on two;
// - responses that are stored, and bodies that are stored while they are streamed from a real server;
// - hits in files, responses that are stored in files too, and the start with many files;
// - a thousand requests at once for a stale response;
// - the memory for many URLs;
// - the share of hits in traces of requests, beside other orders of eviction with the same budget;
// - with `--peers`, hits a second beside caches of Python; see `python/cache-peers` for what it needs.
//
// With `--profile plain|hits|stores COUNT` it only sends that many requests of one kind, for a profiler.
//
// Counts, memory and shares are judged in every run: the exit status is 1 if one misses its goal. Times are only shown.

internal import Figures
internal import Glibc

@main
struct BenchCache {
    static func main() async {
        var arguments = Array(CommandLine.arguments.dropFirst())
        var python: String?
        if let index = arguments.firstIndex(of: "--peers"), index + 1 < arguments.count {
            python = arguments[index + 1]
            arguments.removeSubrange(index...(index + 1))
        }
        if arguments.count == 3, arguments[0] == "--profile", let count = Int(arguments[2]),
            let kind = HitCost.Kind(rawValue: arguments[1])
        {
            return await profile(kind, count)
        }
        let isSmoke = arguments.contains("--smoke")
        guard arguments.allSatisfy({ $0 == "--smoke" }) else {
            print("usage: bench-cache [--smoke] [--peers PYTHON], or bench-cache --profile plain|hits|stores COUNT")
            exit(arguments.contains("--help") ? 0 : 2)
        }
        do {
            var rows = try await HitCost.measure(requests: isSmoke ? 10_000 : 200_000)
            rows += try await StreamCost.measure(rounds: isSmoke ? 1 : 9, size: isSmoke ? 4 << 20 : 64 << 20)
            rows += try await DiskCost.measure(requests: isSmoke ? 1_000 : 20_000, urls: isSmoke ? 500 : 20_000)
            if let python {
                let (memory, files) = (rows[1].value, rows.first { $0.what.hasPrefix("hit in files") }?.value ?? 0)
                rows += try Peers.measure(python, requests: isSmoke ? 500 : 5_000, memory: memory, files: files)
            }
            rows += try await Herd.measure()
            rows += try await Growth.measure(urls: isSmoke ? 30_000 : 1_000_000)
            rows += try await EvictionTraces.measure(requests: isSmoke ? 20_000 : 300_000)
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

    private static func profile(_ kind: HitCost.Kind, _ count: Int) async {
        do {
            print("\(kind.rawValue): \(try await HitCost.time(kind, requests: count)) us")
        } catch {
            print("bench-cache: \(error)")
            exit(2)
        }
    }
}
