internal import ClientHarness
internal import Glibc

/// Runs a client's requests from one task for each request in flight, and reports their figures.
///
///     let driver = LoadDriver(client: "bench-mine", options: .fromCommandLine())
///     let status = await driver.run { try await mine.get(url) }
package struct LoadDriver: Sendable {
    package let client: String
    package let options: ClientOptions

    package init(client: String, options: ClientOptions) {
        self.client = client
        self.options = options
    }

    /// Warms up, measures, and prints the measurement as one line of JSON.
    ///
    /// - Returns: The exit status of the program: 0 if each response had status 200 and a body of the expected length.
    ///   The first one that had not is described on standard error. If it was in the warm-up, nothing is measured.
    package func run(_ request: @escaping @Sendable () async throws -> Reply) async -> Int32 {
        if options.isSoak { return await SoakDriver(client: client, options: options).run(request) }
        let warmup = await runPhase(requests: options.warmup, request)
        // Requests that already fail in the warm-up are not worth measuring.
        guard explainFirstFailure(of: warmup) else { return 1 }
        let cpu = measurement_cpu_seconds()
        let start = measurement_now()
        let workers = await runPhase(requests: options.requests, request)
        var result = measurement()
        result.seconds = Double(measurement_now() - start) / 1e9
        result.cpu_seconds = measurement_cpu_seconds() - cpu
        result.max_rss_kb = measurement_max_rss_kb()
        result.requests = options.requests
        result.errors = workers.reduce(0) { $0 + $1.errors }
        result.first_answer = (warmup + workers).compactMap(\.firstAnswer).min() ?? 0
        report(&result, of: workers)
        return explainFirstFailure(of: workers) ? 0 : 1
    }

    private func runPhase(
        requests: Int, _ request: @escaping @Sendable () async throws -> Reply
    ) async -> [WorkerRecord] {
        let tickets = Tickets(count: requests)
        // Not a task group: with 10,000 tasks the group took a quarter of the processor time, because it searches a
        // list of all tasks for each one that ends.
        let workers = (0..<options.concurrency).map { _ in Task { await work(through: tickets, request) } }
        var records: [WorkerRecord] = []
        for worker in workers { records.append(await worker.value) }
        return records
    }

    private func work(
        through tickets: Tickets, _ request: @Sendable () async throws -> Reply
    ) async -> WorkerRecord {
        var record = WorkerRecord()
        record.latencies.reserveCapacity(tickets.count / options.concurrency + 16)
        while tickets.take() {
            let start = measurement_now()
            do {
                let reply = try await request()
                let latency = measurement_latency_since(start)
                if record.firstAnswer == nil { record.firstAnswer = measurement_now() }
                record.wireProtocol = reply.wireProtocol
                if reply.status == 200 && reply.bodyLength == options.bodyLength {
                    record.latencies.append(latency)
                } else {
                    record.fail("status \(reply.status), \(reply.bodyLength) bytes")
                }
            } catch {
                record.fail("\(error)")
            }
        }
        return record
    }

    /// Describes the first failure. Returns true if there was none.
    private func explainFirstFailure(of workers: [WorkerRecord]) -> Bool {
        guard let failure = workers.lazy.compactMap(\.firstFailure).first else { return true }
        explain(failure)
        return false
    }

    private func report(_ result: inout measurement, of workers: [WorkerRecord]) {
        let wireProtocol = workers.lazy.compactMap(\.wireProtocol).first
        var latencies = workers.flatMap(\.latencies)
        client.withCString { client in
            (wireProtocol?.rawValue ?? "unknown").withCString { name in
                latencies.withUnsafeMutableBufferPointer { latencies in
                    result.client = client
                    result.protocol = name
                    result.latencies = latencies.baseAddress
                    result.latency_count = latencies.count
                    measurement_report(&result)
                }
            }
        }
    }
}

/// The results of one task.
private struct WorkerRecord: Sendable {
    var latencies: [UInt32] = []
    var errors = 0
    var firstFailure: String?
    var wireProtocol: Reply.WireProtocol?
    var firstAnswer: UInt64?

    mutating func fail(_ description: String) {
        errors += 1
        firstFailure = firstFailure ?? description
    }
}

/// Prints a failure on standard error.
func explain(_ failure: String) {
    let line = Array("first error: \(failure)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
}
