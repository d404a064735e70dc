import EssentialsHTTP
import EssentialsRequests
import Synchronization

/// Measures the progress of a request to which somebody listens.
final class ProgressSource: Sendable {
    /// The time between two values.
    static let interval = Duration.milliseconds(50)

    private let rules: Mutex<ProgressRules>
    private let clock: RequestClock
    private let deliver: @Sendable (Double) -> Void

    /// Begins to measure now.
    init(isGet: Bool, hasBody: Bool, _ clock: RequestClock, _ deliver: @escaping @Sendable (Double) -> Void) {
        rules = Mutex(ProgressRules(isGet: isGet, hasBody: hasBody, now: clock.now))
        self.clock = clock
        self.deliver = deliver
    }

    /// Lets a request report its transfers, unless it has reports of its own.
    func attach(to request: inout DataRequest) {
        if request.uploadProgress == nil, !request.body.isNone {
            request.uploadProgress = ProgressReport(every: Self.interval) {
                self.note(.sent($0.bytes, of: $0.expected))
            }
        }
        if request.downloadProgress == nil {
            request.downloadProgress = ProgressReport(every: Self.interval) {
                self.note(.received($0.bytes, of: $0.expected))
            }
        }
    }

    /// Lets progress grow with time until the task is cancelled or a condition no longer holds.
    func tick(while isRunning: @Sendable () -> Bool) async {
        while isRunning() {
            do { try await clock.sleep(for: Self.interval) } catch { return }
            note(.time)
        }
    }

    private func note(_ event: ProgressRules.Event) {
        let progress = rules.withLock { $0.update(event, at: clock.now) }
        if let progress { deliver(progress) }
    }
}

extension RequestBox {
    /// Measures the progress of a request that begins now; `nil` if nobody listens.
    func progressSource(isGet: Bool, hasBody: Bool, _ clock: RequestClock) -> ProgressSource? {
        guard reportsProgress else { return nil }
        let source = ProgressSource(isGet: isGet, hasBody: hasBody, clock) { [weak self] progress in
            self?.deliver(progress: progress)
        }
        let ticker = Task { [weak self] in
            await source.tick { [weak self] in self?.phase == .running }
        }
        addHook { _ in ticker.cancel() }
        return source
    }
}
