import EssentialsTools
import EssentialsTransport

/// Delivers trust reports to all listeners, each at most once a day.
final class TrustReporter: Sendable {
    private struct Key: Hashable {
        let host: String
        let reason: RequestFailure.Reason
        let isEnforced: Bool
        let chain: [Pin]
    }

    private struct State {
        var listeners: [Int: AsyncStream<TrustReport>.Continuation] = [:]
        var nextListener = 0
        var reported: [Key: ContinuousClock.Instant] = [:]
    }

    /// The time in which the same rule, chain and result is not reported again.
    static let period = Duration.seconds(24 * 3600)
    /// The maximum number of remembered reports.
    static let memory = 1_000
    /// The maximum number of reports that wait for a listener.
    static let backlog = 100

    private let state = Mutex(State())

    /// Returns a stream for one listener. It ends with the reporter, or when its listener stops reading.
    func stream() -> AsyncStream<TrustReport> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TrustReport.self, bufferingPolicy: .bufferingNewest(Self.backlog))
        let number = state.withLock { state in
            state.nextListener += 1
            state.listeners[state.nextListener] = continuation
            return state.nextListener
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    deinit { state.withLock { $0 }.listeners.values.forEach { $0.finish() } }

    /// Delivers a report, unless there is no listener or the same report was delivered within the period.
    func report(_ report: TrustReport) {
        let key = Key(
            host: report.pattern?.description ?? report.host, reason: report.reason, isEnforced: report.isEnforced,
            chain: report.chain.map(\.certificatePin))
        let now = ContinuousClock.now
        let listeners = state.withLock { state in
            guard !state.listeners.isEmpty else { return [AsyncStream<TrustReport>.Continuation]() }
            if let last = state.reported[key], last.duration(to: now) < Self.period { return [] }
            if state.reported.count >= Self.memory {
                state.reported = state.reported.filter { $0.value.duration(to: now) < Self.period }
                if state.reported.count >= Self.memory, let oldest = state.reported.min(by: { $0.value < $1.value }) {
                    state.reported[oldest.key] = nil
                }
            }
            state.reported[key] = now
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.yield(report) }
    }
}
