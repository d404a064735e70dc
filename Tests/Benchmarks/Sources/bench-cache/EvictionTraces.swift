internal import EssentialsRequests
internal import Figures
internal import FoundationEssentials
internal import Glibc

/// The share of hits in traces of requests, beside two other orders of eviction that hold as many responses.
enum EvictionTraces {
    static func measure(requests: Int) async throws -> [Row] {
        var rows: [Row] = []
        for trace in try await Trace.all(requests, capacity: capacity()) {
            let ours = try await hits(of: trace)
            var (recent, clock) = (RecentlyUsed(ours.capacity), ClockOrder(ours.capacity))
            let (recentHits, clockHits) = (recent.hits(of: trace.urls), clock.hits(of: trace.urls))
            func share(_ hits: Int) -> Double { Double(hits) / Double(trace.urls.count) }
            rows.append(
                Row(
                    what: "\(trace.name): share of hits", value: share(ours.hits), unit: "", digits: 3,
                    goal: .atLeast(share(recentHits) - trace.tolerance), isJudged: true))
            rows.append(
                Row(what: "    least recently used first", value: share(recentHits), unit: "", digits: 3))
            rows.append(Row(what: "    CLOCK", value: share(clockHits), unit: "", digits: 3))
        }
        return rows
    }

    /// The number of responses that a full cache holds.
    private static func capacity() async throws -> Int {
        let cache = ResponseCache(memory: .bytes(Trace.standardBudget))
        let service = try HTTPDataRequestService.measured(over: InstantOrigin(longLifetime), cache)
        for number in 0..<6_000 { try await service.send(1, path: "\(number)") }
        await service.shutdown()
        return await cache.usage.responses
    }

    private static func hits(of trace: Trace) async throws -> (hits: Int, capacity: Int) {
        let cache = ResponseCache(memory: .bytes(trace.budget))
        let origin = InstantOrigin(longLifetime)
        let service = try HTTPDataRequestService.measured(over: origin, cache)
        for url in trace.urls { try await service.send(1, path: "\(url)") }
        await service.shutdown()
        return (trace.urls.count - origin.count, await cache.usage.responses)
    }
}

/// Requests for URLs that are numbers.
struct Trace {
    let name: String
    let urls: [Int]
    /// How much less than with the least recently used first the share may be.
    var tolerance = 0.02
    /// The memory of the cache.
    var budget = standardBudget

    static let standardBudget = 16 << 20

    static func all(_ count: Int, capacity: Int) throws -> [Trace] {
        var random = Numbers(state: 7)
        let popular = Popularity(urls: 10 * capacity, exponent: 0.9)
        let zipf = (0..<count).map { _ in popular.next(&random) }
        var scans = zipf
        var fresh = 20 * capacity
        for start in stride(from: 0, to: count, by: 5 * capacity) {
            // Each scan reads many URLs that are read never again.
            for index in start..<min(start + 2 * capacity, count) where index % 2 == 0 {
                scans[index] = fresh
                fresh += 1
            }
        }
        let moving = (0..<count).map { index in
            popular.next(&random) + index / (8 * capacity) * capacity / 2
        }
        let loop = (0..<count).map { $0 % (capacity * 13 / 10) }
        return [
            Trace(name: "Zipf 0.9", urls: zipf), Trace(name: "Zipf with scans", urls: scans),
            Trace(name: "Zipf that moves", urls: moving), Trace(name: "a loop of 1.3 times the capacity", urls: loop),
            // Few files, so that the cache is small too.
            Trace(name: "files opened by a build", urls: try opened(), budget: 1 << 20),
        ]
    }

    /// The recorded trace.
    private static func opened() throws -> [Int] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../../Fixtures/opened-files.txt")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }
            .flatMap { line in line.split(separator: " ").compactMap { Int($0, radix: 36) } }
    }
}

/// Numbers of which the smaller ones are more frequent, by Zipf's law.
private struct Popularity {
    private let sums: [Double]

    init(urls: Int, exponent: Double) {
        var sum = 0.0
        sums = (1...urls).map { rank in
            sum += 1 / pow(Double(rank), exponent)
            return sum
        }
    }

    func next(_ random: inout Numbers) -> Int {
        let value = Double.random(in: 0..<(sums.last ?? 1), using: &random)
        var (low, high) = (0, sums.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The same numbers in each run (SplitMix64).
private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// The least recently used is evicted first.
private struct RecentlyUsed {
    private let capacity: Int
    private var times: [Int: Int] = [:]
    private var order: [(url: Int, time: Int)] = []
    private var first = 0

    init(_ capacity: Int) { self.capacity = capacity }

    mutating func hits(of urls: [Int]) -> Int {
        var hits = 0
        for (time, url) in urls.enumerated() {
            if times.updateValue(time, forKey: url) != nil { hits += 1 }
            order.append((url, time))
            while times.count > capacity {
                let oldest = order[first]
                first += 1
                if times[oldest.url] == oldest.time { times[oldest.url] = nil }
            }
        }
        return hits
    }
}

/// A hand goes round and evicts what was not used since its last visit.
private struct ClockOrder {
    private let capacity: Int
    private var places: [Int: Int] = [:]
    private var ring: [(url: Int, isUsed: Bool)] = []
    private var hand = 0

    init(_ capacity: Int) { self.capacity = capacity }

    mutating func hits(of urls: [Int]) -> Int {
        var hits = 0
        for url in urls {
            if let place = places[url] {
                ring[place].isUsed = true
                hits += 1
            } else if ring.count < capacity {
                places[url] = ring.count
                ring.append((url, false))
            } else {
                while ring[hand].isUsed {
                    ring[hand].isUsed = false
                    hand = (hand + 1) % capacity
                }
                places[ring[hand].url] = nil
                ring[hand] = (url, false)
                places[url] = hand
                hand = (hand + 1) % capacity
            }
        }
        return hits
    }
}
