public import EssentialsHTTP

extension DataRequestService {
    /// The events of a stream (WHATWG HTML, 9.2), which is connected again when it ends or breaks.
    ///
    /// ```swift
    /// for try await event in requests.events(of: .get("events")) where event.event == "price" {
    ///     show(event.data)
    /// }
    /// ```
    ///
    /// Before it connects again, it waits for the time that the server named last (`retry`), or 3 seconds, with random
    /// additions of up to a half. Without an event in between the pause doubles, up to eight times. The new request has
    /// the id of the last event in the field `Last-Event-ID`. An id and a time count as soon as their block ends, also
    /// without data. The first connection has the request's own `Last-Event-ID`, if it has one.
    ///
    /// The sequence ends if the server responds with 204, and without another connection after any other failure than
    /// those of the network and of an overloaded server: 429 and 500 to 599, for which it waits at least for
    /// `Retry-After`. It connects when the loop asks for the first event, and leaving the loop closes the connection.
    /// Each loop has a stream of its own. A stream that began without credentials is connected again with those of a login,
    /// and then without the id of the last event.
    ///
    /// Iterating throws
    ///
    /// - `status` for other statuses than 200, `protocolViolation` for a response that is not `text/event-stream`, and
    ///   `tooLarge` for an event or a line above the maximum size;
    /// - `cancelled` if the task was cancelled, also during a pause, and `closed` after the shutdown of the service;
    /// - `authorization` if the credentials of the first connection were cleared or replaced, and `hostRefused` if the
    ///   environment has changed since, because the events would be those of somebody else;
    /// - all other failures that a request can have.
    ///
    /// - Parameters:
    ///   - request: The request for the stream. Its expected status is set to 200, its delivery to streamed, and it is
    ///     neither joined nor retried by a policy. If it cannot be built, the first event fails.
    ///   - maximumSize: The maximum number of bytes of an event or a line. The default is 1 MiB.
    ///   - idleTimeout: How long a connection may bring nothing, not even a comment, before it is connected again. It
    ///     replaces that of the request. The default is `nil`, which means no limit.
    public func events(
        of request: some BuildableRequest, maximumSize: Int = 1 << 20, idleTimeout: Duration? = nil
    ) -> ReconnectingEvents {
        var first: Result<DataRequest, RequestFailure>
        do throws(RequestFailure) {
            var built = try request.build()
            EventStreamRules.configure(&built, idleTimeout: idleTimeout)
            if !built.headerFields.contains(.accept) { built.headerFields[.accept] = "text/event-stream" }
            if !built.headerFields.contains(.cacheControl) { built.headerFields[.cacheControl] = "no-store" }
            first = .success(built)
        } catch {
            first = .failure(error)
        }
        return ReconnectingEvents(requests: self, request: first, maximumSize: maximumSize)
    }
}

/// The events of a stream that is connected again when it ends, created by
/// ``DataRequestService/events(of:maximumSize:idleTimeout:)``.
///
/// ```swift
/// for try await event in requests.events(of: .get("events")) { show(event.data) }
/// ```
public struct ReconnectingEvents: AsyncSequence, Sendable {
    /// An event of the stream.
    public typealias Element = ServerSentEvent
    /// The failure that ends the sequence.
    public typealias Failure = RequestFailure

    fileprivate let requests: any DataRequestService
    fileprivate let request: Result<DataRequest, RequestFailure>
    fileprivate let maximumSize: Int

    /// Begins a stream of its own, which connects at the first call of `next()`.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Iterates over the events of a stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let stream: ReconnectingEvents
        private let clock: RequestClock
        private var machine: EventStreamMachine
        /// The events of the present connection.
        private var events: ServerSentEventSequence.AsyncIterator?
        /// For whom and where the first connection was opened.
        private var scope: CredentialScope?
        private var environment: EnvironmentSnapshot?
        private var hasEnded = false

        fileprivate init(_ stream: ReconnectingEvents) {
            self.stream = stream
            clock = stream.requests.sender?.settings.configuration.clock ?? .system
            let id = (try? stream.request.get())?.headerFields["Last-Event-ID"] ?? ""
            machine = EventStreamMachine(replays: true, lastEventID: id)
        }

        /// The next event; `nil` after the end of the stream and after a failure.
        ///
        /// - Throws: The failures of ``DataRequestService/events(of:maximumSize:idleTimeout:)``.
        public mutating func next() async throws(RequestFailure) -> ServerSentEvent? {
            try await next(isolation: #isolation)
        }

        /// The next event, read on the caller's actor. A `for` loop calls this method.
        ///
        /// - Throws: The same failures as ``next()``.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RequestFailure) -> ServerSentEvent? {
            while !hasEnded {
                let failure: RequestFailure?
                do throws(RequestFailure) {
                    if events == nil { events = try await connected() }
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

        private mutating func connected() async throws(RequestFailure) -> ServerSentEventSequence.AsyncIterator {
            var request = try stream.request.get()
            if let sender = stream.requests.sender {
                if let scope, !scope.hasCredentials, !scope.isCurrent, !scope.hasEnded {
                    // With the credentials of a login it is another stream, whose server does not know the last event.
                    machine.serverChanged()
                    self.scope = nil
                }
                if scope == nil { scope = sender.scope(of: request) }
                let current = sender.currentEnvironment
                if request.base.isEnvironment, let environment, environment != current {
                    throw RequestFailure(
                        .hostRefused, "The environment has changed since the event stream began.",
                        remedy: "Begin a new loop.")
                }
                environment = current
            }
            request.scope = scope
            let id = machine.lastEventID
            request.headerFields["Last-Event-ID"] = id.isEmpty ? nil : id
            let response = try await stream.requests.send(request)
            _ = machine.connected()
            return try EventStreamRules.events(of: response, maximumSize: stream.maximumSize).makeAsyncIterator()
        }

        /// Waits before the next connection.
        ///
        /// - Throws: The failure that ends the stream.
        private mutating func pause(after failure: RequestFailure?) async throws(RequestFailure) {
            if let events { machine.noted(id: events.lastEventID, retry: events.retry) }
            events = nil
            let retryAfter = failure?.retryAfter(now: clock.date)
            switch machine.ended(failure, retryAfter: retryAfter, random: clock.random()) {
            case .end(let failure):
                hasEnded = true
                if let failure { throw failure }
            case .wait(let pause):
                do {
                    try await clock.sleep(for: pause)
                } catch {
                    hasEnded = true
                    throw RequestFailure(.cancelled, "The task was cancelled while its event stream was interrupted.")
                }
            }
        }
    }
}

extension ReconnectingEvents: CustomReflectable {
    /// The maximum size of an event, for debuggers and `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["maximumSize": maximumSize]) }
}
