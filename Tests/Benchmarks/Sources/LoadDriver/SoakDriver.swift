internal import ClientHarness

/// Compares the resources that a client holds early in a long run with those at its end.
///
/// After the first fifth of the requests, everything that is kept for reuse exists. Any growth after that is a leak.
struct SoakDriver: Sendable {
    let client: String
    let options: ClientOptions

    /// Prints the resources at both points as one line of JSON. The status is 0 if each request was answered as
    /// expected; the reader of the line decides whether the client leaks.
    func run(_ request: @escaping @Sendable () async throws -> Reply) async -> Int32 {
        let early = max(1, options.requests / 5)
        var failures = await runPhase(requests: early, request)
        let before = Held.now()
        failures += await runPhase(requests: options.requests - early, request)
        let after = Held.now()
        print(
            """
            {"client":"\(client)","requests":\(options.requests),"errors":\(failures.count),\
            "earlyRSSkB":\(before.residentKB),"finalRSSkB":\(after.residentKB),\
            "earlyDescriptors":\(before.descriptors),"finalDescriptors":\(after.descriptors)}
            """)
        guard let failure = failures.first else { return 0 }
        explain(failure)
        return 1
    }

    /// Runs the requests, and returns the failures of each worker in order.
    private func runPhase(
        requests: Int, _ request: @escaping @Sendable () async throws -> Reply
    ) async -> [String] {
        let tickets = Tickets(count: requests)
        return await withTaskGroup(of: [String].self) { group in
            for _ in 0..<options.concurrency {
                group.addTask { await work(through: tickets, request) }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func work(through tickets: Tickets, _ request: @Sendable () async throws -> Reply) async -> [String] {
        var failures: [String] = []
        while tickets.take() {
            do {
                let reply = try await request()
                if reply.status != 200 || reply.bodyLength != options.bodyLength {
                    failures.append("status \(reply.status), \(reply.bodyLength) bytes")
                }
            } catch {
                failures.append("\(error)")
            }
        }
        return failures
    }

    private struct Held {
        let residentKB: Int
        let descriptors: Int

        static func now() -> Held {
            Held(residentKB: measurement_rss_kb(), descriptors: measurement_descriptors())
        }
    }
}
