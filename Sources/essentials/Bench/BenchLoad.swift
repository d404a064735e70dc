import EssentialsTools
import EssentialsTransport
import ServiceEssentials

/// A closed-loop load: a fixed number of workers, each of which sends a request, reads the response to its end, and
/// then sends the next one.
///
/// A slow server therefore receives fewer requests, and the measured latencies do not include the time for which
/// requests would have waited if they had arrived at a steady rate.
final class BenchLoad: Sendable {
    /// When a load ends. No request begins afterwards; the ones in flight are finished and counted.
    struct Limits: Sendable {
        var requests: Int?
        var duration: Duration?
    }

    /// The load ends if this many requests per worker failed and none received a response.
    private static let hopelessRounds = 4
    /// The minimum number of failures before the load ends.
    private static let hopelessMinimum = 100

    private let request: DataRequest
    private let service: HTTPDataRequestService
    private let concurrency: Int
    private let state = Mutex(State())

    private struct State {
        var record = BenchRecord()
        var begun = 0
        var isHopeless = false
    }

    /// - Parameters:
    ///   - request: The request; it accepts every status and streams its response, and its body can be sent again.
    ///   - concurrency: The number of workers.
    init(request: DataRequest, service: HTTPDataRequestService, concurrency: Int) {
        self.request = request
        self.service = service
        self.concurrency = concurrency
    }

    /// The numbers of finished and of failed requests so far.
    var progress: (finished: Int, failed: Int) {
        state.withLock { ($0.record.requestCount, $0.record.failureCount) }
    }

    /// Runs the load from the start. If the task is cancelled, the requests in flight end and are not counted.
    func run(_ limits: Limits) async -> BenchResult {
        state.withLock { $0 = State() }
        let (start, spent) = (ContinuousClock.now, ProcessorTime.spent)
        let end = limits.duration.map { start + $0 }
        await withTaskGroup { group in
            for _ in 0..<min(concurrency, limits.requests ?? .max) {
                group.addTask { [self] in await work(limits.requests, until: end) }
            }
        }
        let elapsed = ContinuousClock.now - start
        let (record, isHopeless) = state.withLock { ($0.record, $0.isHopeless) }
        return BenchResult(
            record: record, elapsed: elapsed, cost: ProcessorTime.spent - spent, concurrency: concurrency,
            earlyEnd: Task.isCancelled ? .interrupted : isHopeless ? .everyRequestFailed : nil)
    }

    private func work(_ maximum: Int?, until end: ContinuousClock.Instant?) async {
        while !Task.isCancelled, mayBegin(maximum, until: end) {
            let start = ContinuousClock.now
            do throws(RequestFailure) {
                let exchange = try await exchange(since: start)
                if !Task.isCancelled { state.withLock { $0.record.add(exchange) } }
            } catch {
                if !Task.isCancelled { add(error) }
            }
        }
    }

    private func mayBegin(_ maximum: Int?, until end: ContinuousClock.Instant?) -> Bool {
        if let end, ContinuousClock.now >= end { return false }
        return state.withLock { state in
            guard !state.isHopeless, state.begun < maximum ?? .max else { return false }
            state.begun += 1
            return true
        }
    }

    private func add(_ failure: RequestFailure) {
        state.withLock { state in
            state.record.add(failure)
            let patience = max(Self.hopelessMinimum, Self.hopelessRounds * concurrency)
            state.isHopeless = state.record.responseCount == 0 && state.record.failureCount >= patience
        }
    }

    private func exchange(since start: ContinuousClock.Instant) async throws(RequestFailure) -> BenchRecord.Exchange {
        let response = try await service.send(request)
        var count = 0
        var chunks = response.body.makeAsyncIterator()
        while let chunk = try await chunks.next() { count += chunk.count }
        let latency = ContinuousClock.now - start
        let connection = response.connection
        return BenchRecord.Exchange(
            status: response.status.code, latency: latency,
            bodyBytes: response.body.ending?.metrics.bodyBytesReceived ?? count, isReused: connection.isReused,
            connection: Self.text(of: connection))
    }

    private static func text(of connection: ConnectionFacts) -> String {
        let name = connection.protocolName.isEmpty ? "HTTP" : connection.protocolName
        guard let version = connection.tlsVersion else { return "\(name) without TLS" }
        return "\(name) over \(version)" + (connection.tlsCipher.map { " with \($0)" } ?? "")
    }
}
