import EssentialsHTTP
import EssentialsTools

/// The validations that are running. Requests that find the same stale response wait for one validation.
final class CacheFlights: Sendable {
    /// A stored response that is being validated.
    struct Key: Sendable, Hashable {
        let key: ResponseKey
        /// The number of its body.
        let body: UInt64
    }

    /// How a validation has ended.
    enum Outcome: Sendable {
        /// A response is stored that the waiting requests may use; `nil` if the response of the server was not stored.
        case stored(ResponseIdentity?)
        /// The leader was answered with the stale response.
        case trouble(CacheTrouble)
        /// The leader has failed. Every waiting request then asks the server itself: the failure may concern the leader
        /// alone, and if they took turns, each would wait in its turn for a server that does not respond.
        case failed
        /// The leader was cancelled or its time is over, so another request validates.
        case left
    }

    /// How a wait has ended.
    enum Verdict: Sendable {
        case ended(Outcome)
        case cancelled
        case expired
    }

    /// One validation.
    final class Flight: Sendable {
        let outcome = OneShot<Outcome>()
    }

    enum Arrival {
        /// The request validates, and ends the flight.
        case lead(Flight)
        /// Another request validates.
        case follow(Flight)
    }

    private let flights = Mutex<[Key: Flight]>([:])

    func arrive(_ key: Key) -> Arrival {
        flights.withLock { flights in
            if let flight = flights[key] { return .follow(flight) }
            let flight = Flight()
            flights[key] = flight
            return .lead(flight)
        }
    }

    /// The flight that is running; `nil` if there is none.
    func running(_ key: Key) -> Flight? { flights.withLock { $0[key] } }

    /// Ends a flight. It is called once by its leader.
    func end(_ flight: Flight, _ key: Key, _ outcome: Outcome) {
        flights.withLock { $0[key] = nil }
        flight.outcome.provide(outcome)
    }

    /// Waits for the end of a flight, until the deadline of the request or its cancellation.
    func verdict(
        of flight: Flight, within limit: Duration?, _ clock: RequestClock, _ cancellation: Cancellation
    ) async -> Verdict {
        let verdict = OneShot<Verdict>()
        flight.outcome.whenProvided { verdict.provide(.ended($0)) }
        let registration = cancellation.add { verdict.provide(.cancelled) }
        defer { cancellation.remove(registration) }
        let value =
            if let limit {
                await verdict.valueUnlessCancelled { try? await clock.sleep(for: limit) }
            } else {
                await verdict.valueUnlessCancelled()
            }
        return value ?? (Task.isCancelled ? .cancelled : .expired)
    }
}
