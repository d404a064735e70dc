import EssentialsHTTP
import EssentialsTools

/// Decides whether a server is asked on one of the connections, from how it has replied, and counts what has failed.
///
/// The server is left alone for a second if half of at least twenty replies within a second were late or failed. One command
/// is then sent as a probe. If it fails too, the server is left alone for twice as long as before, at most 30 seconds.
final class RedisGate: Sendable {
    fileprivate struct State {
        var machine: BreakerMachine
        var failures = 0
        var changes = 0
        var damagedValues = 0
        var lastFailure: String?
    }

    private let clock: RequestClock
    private let state: Mutex<State>

    init(_ clock: RequestClock) {
        self.clock = clock
        var settings = CircuitBreaker()
        settings.window = .seconds(1)
        settings.openTime = .seconds(1)
        settings.longestOpenTime = .seconds(30)
        state = Mutex(State(machine: BreakerMachine(settings)))
    }

    /// Lets a command pass; `nil` if the server is left alone.
    func pass() -> BreakerMachine.Ticket? {
        let now = clock.now
        return state.withLock { state in
            guard state.machine.refusal(at: now) == nil else {
                state.failures += 1
                return nil
            }
            return state.machine.pass()
        }
    }

    /// Counts a reply.
    func end(
        _ ticket: BreakerMachine.Ticket, _ reply: RedisConnection.Reply, begun: Duration, within limit: Duration
    ) {
        let now = clock.now
        let isLate = now - begun >= limit
        state.withLock { state in
            var outcome = isLate ? BreakerMachine.Outcome.failure : .success
            if case .failure(let failure) = reply {
                state.note(failure)
                outcome = failure.outcome(isLate: isLate)
            }
            _ = state.machine.end(ticket, outcome, at: now)
        }
    }

    /// Counts a failure that does not decide whether the server is asked.
    func note(_ failure: RedisFailure) { state.withLock { $0.note(failure) } }

    /// Counts changes that wait for the server.
    func changes(by number: Int) { state.withLock { $0.changes += number } }

    /// Counts a value that could not be read.
    func noteDamage() { state.withLock { $0.damagedValues += 1 } }

    var health: RedisClient.Health {
        let now = clock.now
        return state.withLock { state in
            var health = RedisClient.Health()
            health.failures = state.failures
            health.waitingChanges = state.changes
            health.damagedValues = state.damagedValues
            health.lastFailure = state.lastFailure
            health.isResting = state.machine.shown(at: now) != .closed
            return health
        }
    }
}

extension RedisGate.State {
    fileprivate mutating func note(_ failure: RedisFailure) {
        failures += 1
        lastFailure = failure.description
    }
}

extension RedisFailure {
    /// How it counts. An error that concerns one command says that the server is there.
    fileprivate func outcome(isLate: Bool) -> BreakerMachine.Outcome {
        switch self {
        case .closed: return .uncounted
        case .unavailable, .late, .full, .lost: return .failure
        case .refused(let error):
            // The server cannot serve anybody.
            let isDown = ["LOADING", "MASTERDOWN", "CLUSTERDOWN", "BUSY", "TRYAGAIN"].contains(error.code)
            return isLate || isDown ? .failure : .success
        }
    }
}
