// Measures what a trust policy adds: to a handshake the gate in it, with digests, report and pins, beside OpenSSL's own
// verification of the same chain; and to a request on a pooled connection the look at its evidence.
//
//     cd Tests/Benchmarks
//     swift run -c release bench-trust
//
// The ways take turns, and the medians of their rounds are shown, because absolute figures drift with the machine. A round
// is short and goes through the ways forwards and backwards, so that a processor that changes its pace in it favours none.
// Handshakes run in memory, client and server on one thread, and their time is that thread's.

internal import EssentialsCurl
internal import EssentialsHTTP
internal import EssentialsTestKit
internal import Glibc

@main
struct BenchTrust {
    /// The goal: what a handshake may cost more with pins than without any policy, in microseconds.
    static let goal = 15.0

    static func main() async throws {
        let isSmoke = CommandLine.arguments.contains("--smoke")
        let ways = try Handshakes()
        var times: [[Double]] = [[], [], []]
        for _ in 0..<(isSmoke ? 3 : 401) {
            var sums = [0.0, 0, 0]
            for index in [0, 1, 2, 2, 1, 0] { sums[index] += try ways.measure(index, calls: 4) / 2 }
            for index in sums.indices { times[index].append(sums[index]) }
        }
        let medians = times.map { $0.sorted()[$0.count / 2] }
        let added = (1...2).map { way in
            times[0].indices.map { times[way][$0] - times[0][$0] }.sorted()[times[0].count / 2]
        }
        print("a handshake, verified by OpenSSL alone       \(text(medians[0])) µs")
        print("the same by a policy without pins            \(text(medians[1])) µs, added \(text(added[0])) µs")
        print(
            "the same by a policy with 20 pins            \(text(medians[2])) µs, added \(text(added[1])) µs, "
                + "goal \(text(goal)): " + (added[1] <= goal ? "met" : "missed"))
        try await compareRequests(isSmoke: isSmoke)
    }

    /// One request at a time on a pooled connection, under a policy without pins and one with 20.
    private static func compareRequests(isSmoke: Bool) async throws {
        let bench = try PooledRequests()
        var times: [[Double]] = [[], []]
        for _ in 0..<(isSmoke ? 3 : 201) {
            var sums = [0.0, 0]
            for index in [0, 1, 1, 0] { sums[index] += try await bench.round(index, requests: 25) / 2 }
            for index in sums.indices { times[index].append(sums[index]) }
        }
        let ratio = times[0].indices.map { times[1][$0] / times[0][$0] }.sorted()[times[0].count / 2]
        print("a request on a pooled connection without pins \(text(times[0].sorted()[times[0].count / 2])) µs")
        print(
            "the same with 20 pins                         \(text(times[1].sorted()[times[1].count / 2])) µs, "
                + "\((ratio * 1000).rounded() / 1000) times")
        await bench.end()
    }

    private static func text(_ microseconds: Double) -> String { "\((microseconds * 10).rounded() / 10)" }
}
