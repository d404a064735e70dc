import EssentialsTransport

/// Decides whether requests to one origin are sent, from the outcomes of earlier ones.
///
/// Each request takes a ticket when it is let through, and returns it once with its outcome. Tickets from before the last
/// change of state have no effect, because their requests reached the server in another state.
package struct BreakerMachine: Sendable {
    /// How a finished request counts.
    package enum Outcome: Sendable, Hashable {
        case success, failure
        /// Nothing, because the request was cancelled or failed for a reason of its own.
        case uncounted
    }

    /// The right of one request to report its outcome.
    package struct Ticket: Sendable, Hashable {
        fileprivate let generation: UInt64
        /// Whether the request decides alone whether the circuit closes.
        package let isProbe: Bool
    }

    private enum State {
        case closed
        /// - Parameters:
        ///   - time: How long the circuit was opened for.
        ///   - end: When a probe may be sent.
        ///   - isProbing: Whether a probe is on its way.
        case open(time: Duration, end: Duration, isProbing: Bool)
    }

    /// The longest time for which a circuit can be open before a probe, whatever the settings say.
    package static let longestOpenTime = Duration.seconds(86_400)

    private let settings: CircuitBreaker
    private let ratio: Double
    private var state = State.closed
    private var window: OutcomeWindow
    /// The number of changes of the state.
    private var generation: UInt64 = 0

    package init(_ settings: CircuitBreaker) {
        self.settings = settings
        // A value that is not a number counts as 1, because a comparison with it is false.
        ratio = settings.failureRatio <= 1 ? max(settings.failureRatio, 0) : 1
        window = OutcomeWindow(settings.window)
    }

    /// Why a request may not be sent; `nil` if it may.
    package func refusal(at now: Duration) -> CircuitOpen? {
        guard case .open(_, let end, let isProbing) = state else { return nil }
        if now < end { return CircuitOpen(timeLeft: end - now) }
        return isProbing ? CircuitOpen(timeLeft: nil) : nil
    }

    /// Lets a request through that ``refusal(at:)`` does not refuse.
    package mutating func pass() -> Ticket {
        guard case .open(let time, let end, _) = state else { return Ticket(generation: generation, isProbe: false) }
        state = .open(time: time, end: end, isProbing: true)
        return Ticket(generation: generation, isProbe: true)
    }

    /// Takes back a ticket, and returns whether the circuit has opened. It is called once for each ticket.
    package mutating func end(_ ticket: Ticket, _ outcome: Outcome, at now: Duration) -> Bool {
        guard ticket.generation == generation else { return false }
        switch (state, outcome) {
        case (.closed, .uncounted): return false
        case (.closed, .success), (.closed, .failure):
            window.add(isFailure: outcome == .failure, at: now)
            guard window.failures > 0, window.total >= settings.minimumOutcomes,
                Double(window.failures) >= ratio * Double(window.total)
            else { return false }
            open(for: bounded(settings.openTime), at: now)
            return true
        case (.open(let time, let end, _), .uncounted):
            // The next request takes the place of the probe.
            state = .open(time: time, end: end, isProbing: false)
            return false
        case (.open, .success):
            state = .closed
            generation += 1
            return false
        case (.open(let time, _, _), .failure):
            open(for: bounded(time * 2), at: now)
            return true
        }
    }

    package func shown(at now: Duration) -> CircuitBreaker.State {
        guard case .open(_, let end, _) = state else { return .closed }
        return now < end ? .open(timeLeft: end - now) : .halfOpen
    }

    private mutating func open(for time: Duration, at now: Duration) {
        state = .open(time: time, end: now + time, isProbing: false)
        generation += 1
        window.clear()
    }

    /// A time within the limit of the settings and of every circuit.
    private func bounded(_ time: Duration) -> Duration {
        max(.zero, min(time, settings.longestOpenTime, Self.longestOpenTime))
    }
}

extension BreakerMachine.Outcome {
    /// The outcome of a response with this status.
    package init(status: Int) { self = (502...504).contains(status) ? .failure : .success }

    /// The outcome of a request that ended without a response.
    package init(_ failure: RequestFailure) { self = failure.countsAgainstServer ? .failure : .uncounted }
}
