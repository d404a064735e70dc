// Measures the cost of a trust policy. For a handshake it is the trust gate, with digests, report and pins,
// compared with OpenSSL's own verification of the same chain. For a request on a pooled connection it is
// the check of its evidence.
//
//     cd Tests/Benchmarks
//     swift run -c release bench-trust
//
// The variants alternate, and the medians of their rounds are shown, because absolute figures drift with the machine. A
// round is short and runs the variants forwards and backwards, so that a change of the processor's speed favors none.
// Handshakes run in memory, with client and server on one thread, and their time is that thread's.

internal import EssentialsCurl
internal import EssentialsHTTP
internal import EssentialsTestKit
internal import Glibc

@main
struct BenchTrust {
    /// The goal: the maximum additional cost of a handshake with pins compared with one without a
    /// policy, in microseconds.
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

    /// Compares requests on a pooled connection, one at a time, under a policy without pins and one with 20.
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
