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
    /// those of the network, of an overloaded server (429 and 500 to 599, for which it waits at least for `Retry-After`)
    /// and of a token provider that is called again. It connects when the loop asks for the first event, and leaving the
    /// loop closes the connection. Each loop has a stream of its own. A stream that began without credentials is connected
    /// again with those of a login, and then without the id of the last event.
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
        private var reader: EventStreamReader<RequestedEvents>

        fileprivate init(_ stream: ReconnectingEvents) {
            let id = (try? stream.request.get())?.headerFields["Last-Event-ID"] ?? ""
            reader = EventStreamReader(
                RequestedEvents(stream), machine: EventStreamMachine(replays: true, lastEventID: id),
                maximumSize: stream.maximumSize)
        }

        /// The next event; `nil` after the end of the stream and after a failure.
        ///
        /// - Throws: The failures of ``DataRequestService/events(of:maximumSize:idleTimeout:)``.
        public mutating func next() async throws(RequestFailure) -> ServerSentEvent? {
            try await reader.next(isolation: #isolation)
        }

        /// The next event, read on the caller's actor. A `for` loop calls this method.
        ///
        /// - Throws: The same failures as ``next()``.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RequestFailure) -> ServerSentEvent? {
            try await reader.next(isolation: actor)
        }
    }
}

/// The connections of a stream for one user and one environment.
private struct RequestedEvents: EventStreamSource {
    let clock: RequestClock
    private let requests: any DataRequestService
    private let request: Result<DataRequest, RequestFailure>
    /// For whom and where the first connection was opened.
    private var scope: CredentialScope?
    private var environment: EnvironmentSnapshot?
    /// Whether the last connection carried something of its user, such as a cookie.
    private var isPersonal = false

    init(_ stream: ReconnectingEvents) {
        (requests, request) = (stream.requests, stream.request)
        clock = stream.requests.sender?.settings.configuration.clock ?? .system
    }

    mutating func connect(_ machine: inout EventStreamMachine) async throws(RequestFailure) -> DataResponse {
        var request = try request.get()
        guard let sender = requests.sender else {
            request.headerFields["Last-Event-ID"] = machine.sentID
            return try await requests.send(request)
        }
        let current = sender.currentEnvironment
        if request.base.isEnvironment, let environment, environment != current { throw Self.changedEnvironment }
        environment = current
        if request.base == .environment { request.base = .pinned(to: current) }
        takeScope(of: request, sender, &machine)
        request.scope = scope
        request.headerFields["Last-Event-ID"] = machine.sentID
        do throws(RequestFailure) {
            let response = try await requests.send(request)
            isPersonal = EventStreamRules.isPersonal(response, in: current)
            return response
        } catch {
            let hasMoved = request.base.isEnvironment && sender.currentEnvironment != current
            throw error.reason == .cancelled && hasMoved && !Task.isCancelled ? Self.changedEnvironment : error
        }
    }

    /// Takes the scope of the first connection. A stream that was opened without credentials goes on after a logout. After
    /// a login it is another one, whose server does not know the last event.
    private mutating func takeScope(
        of request: DataRequest, _ sender: HTTPDataRequestService, _ machine: inout EventStreamMachine
    ) {
        guard let present = scope else { return scope = sender.scope(of: request) }
        guard !present.hasCredentials, !present.isCurrent, !(present.hasEnded && isPersonal) else { return }
        scope = sender.scope(of: request)
        if scope?.hasCredentials == true { machine.serverChanged() }
    }

    private static let changedEnvironment = RequestFailure(
        .hostRefused, "The environment has changed since the event stream began.", remedy: "Begin a new loop.")

    func connected(isGap: Bool) {}

    func disconnected(missesEvents: Bool) {}

    func pause(for time: Duration) async throws { try await clock.sleep(for: time) }
}

extension ReconnectingEvents: CustomReflectable {
    /// The maximum size of an event, for debuggers and `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["maximumSize": maximumSize]) }
}
