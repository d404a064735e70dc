package import EssentialsHTTP

/// Opens the connections of an event stream for an ``EventStreamReader``, which decides when.
package protocol EventStreamSource {
    var clock: RequestClock { get }

    /// Sends the request for the next connection, with the id of the last event.
    ///
    /// - Parameter machine: Has that id. It is told if the stream is another one from now on.
    /// - Throws: The failure that ends the stream, or after which it is connected again.
    mutating func connect(_ machine: inout EventStreamMachine) async throws(RequestFailure) -> DataResponse

    /// The response is an event stream.
    ///
    /// - Parameter isGap: Whether events may have been missed since an earlier connection.
    mutating func connected(isGap: Bool)

    /// A connection has ended, or could not be opened.
    ///
    /// - Parameter missesEvents: Whether events are missed until the next one is open.
    mutating func disconnected(missesEvents: Bool)

    /// Waits before the next connection.
    mutating func pause(for time: Duration) async throws
}

/// Reads the events of a stream (WHATWG HTML, 9.2), and connects again when it ends or breaks.
///
/// It owns the present connection, which ends with it. The first one is opened when the first event is asked for.
package struct EventStreamReader<Source: EventStreamSource> {
    package private(set) var machine: EventStreamMachine
    package private(set) var source: Source
    private let maximumSize: Int
    /// The events of the present connection.
    private var events: ServerSentEventSequence.AsyncIterator?
    private var hasEnded = false

    /// - Parameters:
    ///   - source: Opens the connections.
    ///   - machine: Decides about pauses and ends.
    ///   - maximumSize: The maximum number of bytes of an event or a line.
    package init(_ source: Source, machine: EventStreamMachine, maximumSize: Int) {
        (self.source, self.machine, self.maximumSize) = (source, machine, maximumSize)
    }

    /// The next event; `nil` after the end of the stream and after a failure.
    ///
    /// - Throws: The failure that ends the stream; `cancelled` if the task was cancelled, also during a pause.
    package mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
    ) async throws(RequestFailure) -> ServerSentEvent? {
        while !hasEnded {
            let failure: RequestFailure?
            do throws(RequestFailure) {
                if events == nil { events = try await connection() }
                if let event = try await events?.next(isolation: actor) {
                    machine.received(event)
                    return event
                }
                failure = nil
            } catch {
                failure = error
            }
            try await pause(after: failure)
        }
        return nil
    }

    private mutating func connection() async throws(RequestFailure) -> ServerSentEventSequence.AsyncIterator {
        let response = try await source.connect(&machine)
        let events = try EventStreamRules.events(of: response, maximumSize: maximumSize)
        source.connected(isGap: machine.connected())
        return events.makeAsyncIterator()
    }

    /// Waits before the next connection.
    ///
    /// - Throws: The failure that ends the stream.
    private mutating func pause(after failure: RequestFailure?) async throws(RequestFailure) {
        // Blocks without data count too, however the connection has ended.
        if let events { machine.noted(id: events.lastEventID, retry: events.retry) }
        events = nil
        source.disconnected(missesEvents: machine.missesEvents)
        let retryAfter = failure?.retryAfter(now: source.clock.date)
        switch machine.ended(failure, retryAfter: retryAfter, random: source.clock.random()) {
        case .end(let failure):
            hasEnded = true
            if let failure { throw failure }
        case .wait(let time):
            do {
                try await source.pause(for: time)
            } catch {
                hasEnded = true
                throw RequestFailure(.cancelled, "The task was cancelled while its event stream was interrupted.")
            }
        }
    }
}
