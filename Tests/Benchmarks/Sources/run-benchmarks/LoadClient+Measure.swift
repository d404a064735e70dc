internal import Foundation

extension LoadClient {
    /// Runs the client once.
    func measure(
        _ workload: Workload, server: LoopbackServer, options: RunnerOptions
    ) throws(RunnerError) -> Sample {
        switch workload.kind {
        case .size: return try StrippedSize.sample(of: executable)
        case .cold: return try coldStart(workload, server)
        case .soak: return try soak(workload, server, options)
        case .load(let rate):
            let share = workload.concurrency == 1 ? shareOfOne : shareOfMany
            let least = max(2 * workload.concurrency, 100)
            let requests = options.isSmoke ? least : max(least, Int(rate * 1.5 * share * options.scale))
            var arguments = ["--url", server.url(of: workload.endpoint, path: "/small")]
            arguments += load(requests, warmup: max(requests / 10, 2 * workload.concurrency), of: workload.concurrency)
            if raisesConnections { arguments += ["--connections", "\(workload.concurrency)"] }
            return try run(workload, arguments, server, seconds: 60 + 10 * options.scale)
                .sample(of: workload)
        case .stream(let slowPieces):
            let length = options.largeMiB << 20
            let pieces = options.isSmoke ? min(slowPieces, 2) : slowPieces
            var arguments = ["--url", server.url(of: workload.endpoint, path: "/file"), "--length", "\(length)"]
            arguments += ["--streamed", "--slow-pieces", "\(pieces)"] + load(1, warmup: pieces > 0 ? 0 : 1, of: 1)
            return try run(workload, arguments, server, seconds: 120).sample(of: workload, bodyLength: length)
        case .collect:
            let length = options.largeMiB << 20
            // No warm-up, because the peak memory is that of the whole process.
            let arguments =
                ["--url", server.url(of: workload.endpoint, path: "/file"), "--length", "\(length)"]
                + load(1, warmup: 0, of: 1)
            return try run(workload, arguments, server, seconds: 120).sample(of: workload, bodyLength: length)
        case .upload:
            let arguments = ["--upload", server.largeFile] + load(1, warmup: 1, of: 1)
            return try runOnOwnServer(workload, arguments, server, first: 0, delay: 0)
                .sample(of: workload, bodyLength: options.largeMiB << 20)
        case .inFlight(let delay):
            let requests = options.isSmoke ? workload.concurrency / 50 : workload.concurrency
            let wait = options.isSmoke ? delay / 10 : delay
            let arguments = ["--connections", "\(requests)"] + load(requests, warmup: requests, of: requests)
            return try runOnOwnServer(workload, arguments, server, first: requests, delay: wait)
                .sample(of: workload, delay: wait)
        }
    }

    private func load(_ requests: Int, warmup: Int, of concurrency: Int) -> [String] {
        ["--concurrency", "\(concurrency)", "--requests", "\(requests)", "--warmup", "\(warmup)"]
    }

    private func trust(_ workload: Workload, _ server: LoopbackServer) -> [String] {
        ["--ca", server.caFile] + (workload.trustsSystem ? ["--bundle", server.bundleFile] : [])
            + (workload.endpoint == .http2 ? ["--http2"] : [])
    }

    private func runOnOwnServer(
        _ workload: Workload, _ arguments: [String], _ server: LoopbackServer, first: Int, delay: Double
    ) throws(RunnerError) -> Measurement {
        let own = try DelayServer.start(first: first, delay: delay)
        defer { own.stop() }
        return try run(workload, ["--url", "http://127.0.0.1:\(own.port)/"] + arguments, server, seconds: 120)
    }

    /// Runs the client. Responses with the wrong protocol make the run a failure, because they measure something else.
    private func run(
        _ workload: Workload, _ arguments: [String], _ server: LoopbackServer, seconds: Double
    ) throws(RunnerError) -> Measurement {
        var arguments = arguments + trust(workload, server)
        var command = executable.path
        if workload.isPinned {
            arguments = ["--cpu-list", "\(ProcessInfo.processInfo.processorCount - 1)", command] + arguments
            command = "taskset"
        }
        let output = try ChildProcess.run(command, arguments, seconds: seconds)
        return try checked(output.standardOutput, of: workload, status: output.status)
    }

    private func checked(
        _ output: Data, of workload: Workload, status: Int32
    ) throws(RunnerError) -> Measurement {
        guard let measurement = try? JSONDecoder().decode(Measurement.self, from: output) else {
            throw RunnerError("ended with status \(status) and without a result")
        }
        guard measurement.protocol == workload.wireProtocol else {
            throw RunnerError("spoke \(measurement.protocol) instead of \(workload.wireProtocol)")
        }
        return measurement
    }

    private func coldStart(_ workload: Workload, _ server: LoopbackServer) throws(RunnerError) -> Sample {
        let url = server.url(of: workload.endpoint, path: "/small")
        let start = try TimedStart.run(
            executable.path, ["--url", url] + load(1, warmup: 0, of: 1) + trust(workload, server), seconds: 20)
        let measurement = try checked(start.standardOutput, of: workload, status: start.status)
        guard measurement.firstAnswer > start.began else { throw RunnerError("got no answer") }
        return Sample(
            figures: [.firstAnswerMs: Double(measurement.firstAnswer - start.began) / 1e6], errors: measurement.errors)
    }

    private func soak(
        _ workload: Workload, _ server: LoopbackServer, _ options: RunnerOptions
    ) throws(RunnerError) -> Sample {
        // A handshake costs as much as ten requests.
        let requests = options.soakRequests / (workload.endpoint == .freshTLS ? 10 : 1)
        let url = server.url(of: workload.endpoint, path: "/small")
        let arguments = ["--url", url, "--soak"] + load(requests, warmup: 0, of: workload.concurrency)
        let output = try ChildProcess.run(
            executable.path, arguments + trust(workload, server), seconds: 60 + Double(requests) / 1000)
        guard let measurement = try? JSONDecoder().decode(SoakMeasurement.self, from: output.standardOutput) else {
            throw RunnerError("ended with status \(output.status) and without a result")
        }
        return measurement.sample
    }
}
