// Measures what a trust policy adds: to the verification of a chain digests, report and pins, beside OpenSSL alone; and to
// a request on a pooled connection the look at its evidence.
//
//     cd Tests/Benchmarks
//     swift run -c release bench-trust
//
// The ways take turns, and the medians of their rounds are shown, because absolute figures drift with the machine. A round
// is short and goes through the ways forwards and backwards, so that a processor that changes its pace in it favours none.

internal import EssentialsCurl
internal import EssentialsHTTP
internal import EssentialsTestKit
internal import Glibc
internal import TrustFloor

@main
struct BenchTrust {
    /// The goal: what a handshake may cost more with pins than without any policy, in microseconds.
    static let goal = 15.0

    static func main() async throws {
        let isSmoke = CommandLine.arguments.contains("--smoke")
        let ways = try Ways()
        var times: [[Double]] = [[], [], []]
        for _ in 0..<(isSmoke ? 3 : 401) {
            var sums = [0.0, 0, 0]
            for index in [0, 1, 2, 2, 1, 0] { sums[index] += try measure(calls: 8, ways.all[index]) / 2 }
            for index in sums.indices { times[index].append(sums[index]) }
        }
        let medians = times.map { $0.sorted()[$0.count / 2] }
        let added = times[2].indices.map { times[2][$0] - times[0][$0] }.sorted()[times[0].count / 2]
        print("verifying a chain of two with OpenSSL alone   \(text(medians[0])) µs")
        print("the same by a policy without pins             \(text(medians[1])) µs")
        print("the same by a policy with 20 pins, last right \(text(medians[2])) µs")
        print(
            "added by the policy and its pins              \(text(added)) µs, goal \(text(goal)): "
                + (added <= goal ? "met" : "missed"))
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

    private static func measure(calls: Int, _ way: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        for _ in 0..<calls { try way() }
        return start.duration(to: .now) / .microseconds(1) / Double(calls)
    }

    private static func text(_ microseconds: Double) -> String { "\((microseconds * 10).rounded() / 10)" }
}

/// The three ways to verify the same chain.
private struct Ways {
    private let chain: [[UInt8]]
    private let floor: OpaquePointer
    private let plain: CompiledTrust
    private let pinned: CompiledTrust
    private let host: HostName

    init() throws {
        let authority = try TestAuthority(name: "Benchmark").certificate
        let leaf = try authority.issue(.init(commonName: "localhost"))
        chain = [leaf.der, authority.der]
        host = try HostName("localhost")
        let anchors = try TrustAnchors.only([PEM(authority.certificatePEM)])
        var pins = try (0..<19).map { try Pin(kind: .publicKey, digest: Array(repeating: $0, count: 32)) }
        pins.append(try .publicKey(authority.publicKeyPin))
        plain = try CompiledTrust(TrustPolicy(anchors: anchors))
        pinned = try CompiledTrust(TrustPolicy(pins: pins, anchors: anchors))
        var text = authority.certificatePEM
        let made = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { trust_floor_create($0.baseAddress, $0.count) }
        }
        guard let made else { fatalError("OpenSSL reads no certificate that it made") }
        floor = made
    }

    var all: [() throws -> Void] {
        [
            {
                let done = trust_floor_verify(floor, chain[0], chain[0].count, chain[1], chain[1].count, host.text)
                precondition(done, "the chain was refused")
            },
            { try plain.evaluate(chain: chain, host: host) },
            { try pinned.evaluate(chain: chain, host: host) },
        ]
    }
}
