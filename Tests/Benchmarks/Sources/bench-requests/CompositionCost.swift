internal import EssentialsCurl
internal import EssentialsHTTP
internal import EssentialsRequests
internal import Figures
internal import Glibc
internal import ServiceEssentials
internal import ThreadCounters

/// What README's composition costs over a bare `CurlTransport`: a service that makes its transports itself and sends small
/// GET requests over the loopback interface, one at a time and 64 at a time.
enum CompositionCost {
    /// The results of one side's requests in a round.
    private struct Side {
        var microseconds: [Double] = []
        var cpuNanoseconds: UInt64 = 0
        var elapsedNanoseconds: UInt64 = 0
        var allocations: UInt64 = 0

        var count: Double { Double(microseconds.count) }
        var p50: Double { median(microseconds) }
        var cpuMicroseconds: Double { Double(cpuNanoseconds) / count / 1_000 }
        var requestsPerSecond: Double { count * 1e9 / Double(elapsedNanoseconds) }
        var allocationsEach: Double { Double(allocations) / count }

        /// Sends requests on several tasks at once, each task one request after the other.
        @concurrent
        mutating func run(
            _ tasks: Int, _ requests: Int, _ send: @escaping @Sendable () async throws -> Void
        ) async throws {
            let (cpu, start, allocated) = (processNanoseconds(), monotonic_nanoseconds(), process_allocations())
            try await withThrowingTaskGroup(of: [Double].self) { group in
                for _ in 0..<tasks {
                    group.addTask {
                        var times: [Double] = []
                        times.reserveCapacity(requests)
                        for _ in 0..<requests {
                            let start = monotonic_nanoseconds()
                            try await send()
                            times.append(Double(monotonic_nanoseconds() - start) / 1_000)
                        }
                        return times
                    }
                }
                for try await times in group { microseconds += times }
            }
            elapsedNanoseconds += monotonic_nanoseconds() - start
            cpuNanoseconds += processNanoseconds() - cpu
            allocations += process_allocations() - allocated
        }

        private func processNanoseconds() -> UInt64 {
            var time = timespec()
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
            return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        }
    }

    static func measure(_ options: Options) async throws -> [Row] {
        let server = try ChildServer.start()
        defer { server.stop() }
        let base = "http://127.0.0.1:\(server.port)/v1/"
        let request = TransportRequest(
            .get, try RequestURL(base + "users/1"), headerFields: [.accept: "*/*", .userAgent: "bench-requests"])
        let transport = try CurlTransport()
        let service = try HTTPDataRequestService(environment: ConstantEnvironment(base))
        var rows: [Row] = []
        for tasks in [1, 64] {
            let (turns, requests) =
                options.isSmoke ? (2, 4) : tasks == 1 ? (20, 50) : (4, 40)
            var (bare, whole): ([Side], [Side]) = ([], [])
            for round in 0...options.rounds {
                var (a, b) = (Side(), Side())
                // Short turns, because the machine's speed changes within a second.
                for turn in 0..<turns {
                    for side in turn.isMultiple(of: 2) ? [0, 1] : [1, 0] {
                        if side == 0 {
                            try await a.run(tasks, requests) { _ = try await transport.send(request) }
                        } else {
                            try await b.run(tasks, requests) { try await service.get("users/1") }
                        }
                    }
                }
                guard round > 0 else { continue }
                bare.append(a)
                whole.append(b)
            }
            rows += Self.rows(tasks, bare, whole)
        }
        await service.shutdown()
        await transport.shutdown()
        return rows
    }

    private static func rows(_ tasks: Int, _ bare: [Side], _ whole: [Side]) -> [Row] {
        func added(_ figure: (Side) -> Double) -> Double { median(zip(bare, whole).map { figure($1) - figure($0) }) }
        let share = tasks == 1 ? "p50" : "p50, divided by \(tasks)"
        let limit: Double = tasks == 1 ? 8 : 4
        let ratio = median(zip(bare, whole).map { $1.requestsPerSecond / $0.requestsPerSecond })
        return [
            Row(
                what: "GET over loopback, \(tasks) at a time, CurlTransport alone: p50", value: median(bare.map(\.p50)),
                unit: "µs", digits: 1),
            Row(what: "    CPU time", value: median(bare.map(\.cpuMicroseconds)), unit: "µs", digits: 1),
            Row(what: "    requests a second", value: median(bare.map(\.requestsPerSecond)), unit: ""),
            Row(
                what: "    added by README's composition: \(share)", value: added(\.p50) / Double(tasks), unit: "µs",
                digits: 1, goal: .atMost(limit)),
            Row(
                what: "    added: CPU time", value: added(\.cpuMicroseconds), unit: "µs", digits: 1,
                goal: .atMost(limit)),
            Row(
                what: "    added: allocations of all threads", value: added(\.allocationsEach), unit: "", digits: 1,
                goal: .atMost(12)),
            Row(
                what: "    share of CurlTransport's requests a second", value: ratio, unit: "times", digits: 3,
                goal: tasks == 64 ? .atLeast(0.95) : .none),
        ]
    }
}
