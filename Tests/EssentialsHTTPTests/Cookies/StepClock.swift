import EssentialsHTTP
import EssentialsTools
import FoundationEssentials

/// A clock that stands still until a test advances it. Its date moves with it.
final class StepClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var elapsed: Duration
        func advanced(by duration: Duration) -> Instant { Instant(elapsed: elapsed + duration) }
        func duration(to other: Instant) -> Duration { other.elapsed - elapsed }
        static func < (one: Instant, other: Instant) -> Bool { one.elapsed < other.elapsed }
    }

    private struct State {
        var now = Instant(elapsed: .zero)
        var sleepers: [(deadline: Instant, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())
    let minimumResolution = Duration.zero
    var now: Instant { state.withLock { $0.now } }
    var date: Date { cookieTime.addingTimeInterval(now.elapsed / .seconds(1)) }
    var requestClock: RequestClock { RequestClock(self, date: { [self] in date }) }
    /// The deadlines of all sleepers since time zero.
    var deadlines: [Duration] { state.withLock { $0.sleepers.map(\.deadline.elapsed) } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state in
                if deadline <= state.now { return true }
                state.sleepers.append((deadline, continuation))
                return false
            }
            if isDue { continuation.resume() }
        }
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.deadline <= state.now }
            state.sleepers.removeAll { $0.deadline <= state.now }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Waits until a task sleeps.
    func waitForSleeper() async {
        while deadlines.isEmpty { await Task.yield() }
    }
}
