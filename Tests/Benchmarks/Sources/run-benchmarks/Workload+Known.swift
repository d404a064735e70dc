extension Workload {
    static let known = load + bodies + connections + long

    private static let load = [
        Workload(
            name: "h1-1", kind: .load(expectedRate: 15_000),
            goals: [.ratio(.p50us, .atMost(1.2)), .service(.p50us, .atMost(1.1), of: "bench-ours")]),
        Workload(
            name: "h1-64", kind: .load(expectedRate: 60_000), concurrency: 64,
            goals: [
                .ratio(.requestsPerSecond, .atLeast(1.05)), .p99, .ratio(.cpuPerRequest, .atMost(1)), .memory,
                Goal(figure: .requestsPerSecond, bound: .atLeast(2), reference: "bench-ahc"),
                Goal(figure: .requestsPerSecond, bound: .atLeast(15), reference: "bench-urlsession"),
                .service(.requestsPerSecond, .atLeast(0.95)), .service(.cpuPerRequest, .atMost(1.35)),
            ]),
        Workload(
            name: "h1-256", kind: .load(expectedRate: 50_000), concurrency: 256,
            goals: [.ratio(.requestsPerSecond, .atLeast(1.25)), .service(.requestsPerSecond, .atLeast(0.95))]),
        Workload(name: "tls-1", kind: .load(expectedRate: 12_000), endpoint: .tls),
        Workload(
            name: "tls-64", kind: .load(expectedRate: 45_000), endpoint: .tls, concurrency: 64,
            goals: [.ratio(.requestsPerSecond, .atLeast(1.05)), .p99, .service(.requestsPerSecond, .atLeast(0.93))]),
        Workload(name: "tls-256", kind: .load(expectedRate: 40_000), endpoint: .tls, concurrency: 256),
        Workload(
            name: "h2-64", kind: .load(expectedRate: 50_000), endpoint: .http2, concurrency: 64,
            goals: [.ratio(.requestsPerSecond, .atLeast(1)), .p99]),
        Workload(
            name: "h1-64-pinned", kind: .load(expectedRate: 60_000), concurrency: 64, isPinned: true,
            goals: [.ratio(.requestsPerSecond, .atLeast(0.95)), .p99]),
    ]

    private static let bodies = [
        Workload(
            name: "stream-1g", kind: .stream(slowPieces: 0),
            goals: [.ratio(.gigabytesPerSecond, .atLeast(0.9)), .ratio(.cpuSeconds, .atMost(1.35)), .memory]),
        Workload(name: "stream-slow", kind: .stream(slowPieces: 20), goals: [.memory]),
        Workload(
            name: "collect-1g", kind: .collect,
            goals: [
                .value(.maxRSSkB, .atMost(1100 * 1024)),
                // The same goal for a body of any size. It is independent of the load of the machine.
                Goal(figure: .overBodykB, bound: .atMost((1100 - 1024) * 1024), reference: nil, isStrict: true),
            ]),
        Workload(name: "upload-1g", kind: .upload, endpoint: .ownServer),
    ]

    private static let connections = [
        Workload(
            name: "inflight-10k", kind: .inFlight(delay: 2), endpoint: .ownServer, concurrency: 10_000,
            goals: [
                .value(.secondsOverDelay, .atMost(0.5)), .value(.maxRSSkB, .atMost(300 * 1024)),
                .value(.threads, .atMost(32)),
            ]),
        Workload(
            name: "tls-new", kind: .load(expectedRate: 130), endpoint: .freshTLS, trustsSystem: true,
            goals: [Goal(figure: .p50us, bound: .atMost(1.25), reference: "bench-ahc")]),
        Workload(
            name: "cold", kind: .cold,
            goals: [
                .ratio(.firstAnswerMs, .atMost(2.2)),
                Goal(figure: .firstAnswerMs, bound: .atMost(1.8), client: LoadClient.staticName),
            ]),
        Workload(
            name: "cold-tls", kind: .cold, endpoint: .tls, trustsSystem: true,
            goals: [
                .ratio(.firstAnswerMs, .atMost(1)),
                Goal(figure: .firstAnswerMs, bound: .atMost(1), client: LoadClient.staticName),
            ]),
        Workload(
            name: "size", kind: .size(ofTool: false),
            goals: [
                .value(.strippedSizekB, .atMost(1.5 * 1024)),
                Goal(
                    figure: .strippedSizekB, bound: .atMost(20 * 1024), reference: nil, client: LoadClient.staticName),
            ]),
        Workload(
            name: "tool-size", kind: .size(ofTool: true),
            goals: [toolSize(4, of: LoadClient.toolName), toolSize(25, of: LoadClient.staticToolName)]),
    ]

    private static func toolSize(_ mebibytes: Double, of client: String) -> Goal {
        Goal(figure: .strippedSizekB, bound: .atMost(mebibytes * 1024), reference: nil, client: client)
    }

    private static let long = [
        soak("soak", .plain), soak("soak-tls", .tls), soak("soak-h2", .http2), soak("soak-new", .freshTLS),
    ]

    private static func soak(_ name: String, _ endpoint: Endpoint) -> Workload {
        Workload(
            name: name, kind: .soak, endpoint: endpoint, concurrency: 64, isDefault: false,
            goals: [
                Goal(figure: .grownRSSkB, bound: .atMost(2 * 1024), reference: nil, isStrict: true),
                Goal(figure: .grownDescriptors, bound: .atMost(0), reference: nil, isStrict: true),
            ])
    }

    /// The workloads with these names in the order of `known`; without names, the default ones.
    static func select(_ names: [String]?) throws(RunnerError) -> [Workload] {
        guard let names else { return known.filter(\.isDefault) }
        if let unknown = names.first(where: { name in !known.contains { $0.name == name } }) {
            throw RunnerError("unknown workload \(unknown)")
        }
        return known.filter { names.contains($0.name) }
    }
}
