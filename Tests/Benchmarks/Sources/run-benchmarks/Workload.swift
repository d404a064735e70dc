/// One kind of load: where it goes and how much of it is in flight.
struct Workload: Sendable {
    enum Endpoint: Sendable {
        case plain, tls, http2
    }

    let name: String
    let endpoint: Endpoint
    let concurrency: Int
    /// About what `bench-limit` reaches; the number of requests follows from it.
    let expectedRate: Double
    /// Whether the client gets one core only. The server is then left with the others.
    var isPinned = false

    var wireProtocol: String { endpoint == .http2 ? "HTTP/2" : "HTTP/1.1" }

    static let known = [
        Workload(name: "h1-1", endpoint: .plain, concurrency: 1, expectedRate: 15_000),
        Workload(name: "h1-64", endpoint: .plain, concurrency: 64, expectedRate: 60_000),
        Workload(name: "h1-256", endpoint: .plain, concurrency: 256, expectedRate: 50_000),
        Workload(name: "tls-1", endpoint: .tls, concurrency: 1, expectedRate: 12_000),
        Workload(name: "tls-64", endpoint: .tls, concurrency: 64, expectedRate: 45_000),
        Workload(name: "tls-256", endpoint: .tls, concurrency: 256, expectedRate: 40_000),
        Workload(name: "h2-64", endpoint: .http2, concurrency: 64, expectedRate: 50_000),
        Workload(name: "h1-64-pinned", endpoint: .plain, concurrency: 64, expectedRate: 60_000, isPinned: true),
    ]

    /// The workloads of these names in the order of `known`; without names, all that pin nothing.
    static func select(_ names: [String]?) throws(RunnerError) -> [Workload] {
        guard let names else { return known.filter { !$0.isPinned } }
        if let unknown = names.first(where: { name in !known.contains { $0.name == name } }) {
            throw RunnerError("unknown workload \(unknown)")
        }
        return known.filter { names.contains($0.name) }
    }

    /// How many requests keep a client of the given share of the expected rate busy for about 1.5 s.
    func requests(share: Double, scale: Double, isSmoke: Bool) -> Int {
        let least = max(2 * concurrency, 100)
        return isSmoke ? least : max(least, Int(expectedRate * 1.5 * share * scale))
    }
}
