internal import Foundation

/// A load client: a program beside the runner, with the arguments that make it this client.
struct LoadClient: Sendable {
    let name: String
    let program: String
    /// About how fast the client is compared with `bench-limit`, with one request and with many in flight. Only the
    /// number of requests depends on it.
    let shareOfOne: Double
    let shareOfMany: Double
    /// Whether the client's pool is given as many connections as there are requests in flight.
    var raisesConnections = false

    static let known = [
        LoadClient(name: "bench-limit", program: "bench-limit", shareOfOne: 1, shareOfMany: 1),
        LoadClient(name: "bench-limit-tuned", program: "bench-limit-tuned", shareOfOne: 1, shareOfMany: 1),
        LoadClient(name: "bench-ours", program: "bench-ours", shareOfOne: 1, shareOfMany: 1),
        LoadClient(name: "bench-ahc", program: "bench-ahc", shareOfOne: 0.5, shareOfMany: 0.35),
        LoadClient(
            name: "bench-ahc-raised", program: "bench-ahc", shareOfOne: 0.5, shareOfMany: 0.5, raisesConnections: true),
        LoadClient(name: "bench-urlsession", program: "bench-urlsession", shareOfOne: 0.2, shareOfMany: 0.07),
    ]

    /// The clients of these names in the order of `known`; without names, those that are built.
    static func select(_ names: [String]?) throws(RunnerError) -> [LoadClient] {
        let built = known.filter { FileManager.default.isExecutableFile(atPath: $0.executable.path) }
        guard let names else {
            if built.isEmpty { throw RunnerError("no client is built beside \(CommandLine.arguments[0])") }
            return built
        }
        if let missing = names.first(where: { name in !built.contains { $0.name == name } }) {
            throw RunnerError("client \(missing) is unknown or not built")
        }
        return built.filter { names.contains($0.name) }
    }

    var executable: URL {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent(program)
    }

    /// A raised limit only differs from the default where more connections than that are wanted.
    func takesPart(in workload: Workload) -> Bool {
        !raisesConnections || (workload.endpoint != .http2 && workload.concurrency > 8)
    }

    /// Runs the client once. Answers of the wrong protocol make the run a failure, for they measure something else.
    func measure(
        _ workload: Workload, server: LoopbackServer, scale: Double, isSmoke: Bool
    ) throws(RunnerError) -> Measurement {
        let share = workload.concurrency == 1 ? shareOfOne : shareOfMany
        let requests = workload.requests(share: share, scale: scale, isSmoke: isSmoke)
        var arguments = [
            "--url", server.url(of: workload.endpoint), "--ca", server.caFile,
            "--concurrency", "\(workload.concurrency)", "--requests", "\(requests)",
            "--warmup", "\(max(requests / 10, 2 * workload.concurrency))",
        ]
        if workload.endpoint == .http2 { arguments.append("--http2") }
        if raisesConnections { arguments += ["--connections", "\(workload.concurrency)"] }
        var command = executable.path
        if workload.isPinned {
            arguments = ["--cpu-list", "\(ProcessInfo.processInfo.processorCount - 1)", command] + arguments
            command = "taskset"
        }
        let output = try ChildProcess.run(command, arguments, seconds: 60 + 10 * scale)
        guard let measurement = try? JSONDecoder().decode(Measurement.self, from: output.standardOutput) else {
            throw RunnerError("ended with status \(output.status) and without a result")
        }
        guard measurement.protocol == workload.wireProtocol else {
            throw RunnerError("spoke \(measurement.protocol) instead of \(workload.wireProtocol)")
        }
        return measurement
    }
}
