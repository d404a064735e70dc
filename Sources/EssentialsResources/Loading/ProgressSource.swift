import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// Measures the progress of a request that has listeners.
final class ProgressSource: Sendable {
    /// The minimum time between two values.
    static let interval = Duration.milliseconds(50)

    private struct State {
        var rules: ProgressRules
        var gate = ProgressGate(every: ProgressSource.interval)
        var listeners: [@Sendable (Double) -> Void] = []
    }

    private let state: Mutex<State>
    private let clock: RequestClock

    /// Begins to measure now.
    init(isGet: Bool, hasBody: Bool, _ clock: RequestClock) {
        state = Mutex(State(rules: ProgressRules(isGet: isGet, hasBody: hasBody, now: clock.now)))
        self.clock = clock
    }

    /// Calls a closure with each value. Two threads can call it at the same time, so a smaller value may arrive last.
    func report(to listener: @escaping @Sendable (Double) -> Void) { state.withLock { $0.listeners.append(listener) } }

    /// Makes a request report its transfers, unless it has reports of its own.
    func attach(to request: inout DataRequest) {
        if request.uploadProgress == nil, !request.body.isNone {
            request.uploadProgress = report { progress in
                self.note(progress.bytes == 0 ? .connected : .sent(progress.bytes, of: progress.expected))
                // Every attempt reaches this, but only the first attempt calls `end`.
                if progress.bytes == progress.expected { self.note(.uploaded) }
            } end: {
                self.note(.uploaded)
            }
        }
        if request.downloadProgress == nil {
            request.downloadProgress = report { progress in
                self.note(progress.bytes == 0 ? .responded : .received(progress.bytes, of: progress.expected))
            }
        }
    }

    private func report(
        _ deliver: @escaping @Sendable (TransferProgress) -> Void, end: @escaping @Sendable () -> Void = {}
    ) -> ProgressReport {
        ProgressReport(every: Self.interval, now: { [clock] in clock.now }, deliver, end: end)
    }

    /// Lets progress grow with time while a condition holds, until the task is cancelled.
    func tick(while isRunning: @Sendable () -> Bool) async {
        while isRunning() {
            do { try await clock.sleep(for: Self.interval) } catch { return }
            note(.time)
        }
    }

    private func note(_ event: ProgressRules.Event) {
        let now = clock.now
        let (progress, listeners) = state.withLock { state in
            _ = state.rules.update(event, at: now)
            let value = state.rules.value
            return (value, value > 0 && state.gate.passes(value, at: now) ? state.listeners : [])
        }
        for listener in listeners { listener(progress) }
    }
}

/// Lets a growing progress through at most once per interval.
struct ProgressGate: Sendable {
    private let interval: Duration
    /// The value that went through last, and when.
    private var last: (value: Double, time: Duration)?

    init(every interval: Duration) { self.interval = interval }

    /// Whether a value goes through now. A value that is held back can be offered again later.
    mutating func passes(_ value: Double, at now: Duration) -> Bool {
        if let last, value <= last.value || now < last.time + interval { return false }
        last = (value, now)
        return true
    }
}
