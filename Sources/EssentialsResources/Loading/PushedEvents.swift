public import EssentialsHTTP
import EssentialsRequests
import Synchronization

/// A connection to a stream of server-sent events. It ends with ``cancel()`` or with its last reference.
///
/// ```swift
/// let events = service.follow(eventsAt: "events") { event, resources in
///     resources.invalidate(resources.resource("orders", event.data, as: Order.self))
/// }
/// ```
public final class EventSubscription: Sendable {
    /// How a subscription is.
    public enum Status: Sendable, Hashable {
        /// It connects to the server.
        case connecting
        /// Events are received.
        case connected
        /// It waits before it connects again: for the end of a pause, or after a logout for credentials.
        case waiting
        /// It has ended: it was cancelled, the service was closed, or the server does not want it (204).
        case ended
        /// The server has refused it, or has sent something else than events.
        case failed(RequestFailure)
    }

    let follower: EventFollower
    private let task: Task<Void, Never>

    init(_ follower: EventFollower) {
        self.follower = follower
        task = .counted { await follower.run() }
        follower.register(task)
    }

    deinit { cancel() }

    /// Ends the connection. An event that is being received is still passed on to its end.
    public func cancel() { task.cancel() }

    /// How the subscription is.
    public var status: Status { follower.status }
}

extension ResourceService {
    /// Follows a stream of server-sent events (WHATWG HTML, 9.2), which changes or invalidates resources.
    ///
    /// The stream is connected again when it ends or breaks, after the pause that the server named (`retry`) and with the
    /// id of the last event (`Last-Event-ID`). What the stream feeds is then invalid, because events may have been missed:
    /// all resources that were asked of the second parameter of `receive` so far, and those that a pattern selects. The
    /// observed ones are loaded, four at a time.
    ///
    /// ```swift
    /// let events = service.follow(eventsAt: "events", feeding: ["/orders/*"]) { event, resources in
    ///     resources.invalidate(resources.resource("orders", event.data, as: Order.self))
    /// }
    /// ```
    ///
    /// The request has the configuration of the resource at the path, except its decorators. After a change of the
    /// environment the stream of the new server is followed.
    ///
    /// A stream that was opened with credentials, or with a cookie, ends with them: when they are cleared or replaced, its
    /// events count no longer, and all that it feeds is invalid. It is connected again with the next credentials, without
    /// the id of the last event. After a logout it waits for them. Tokens that a token source renews end nothing. A stream
    /// without credentials goes on; if it is connected again after a login, then with the new credentials, as another stream.
    ///
    /// - Parameters:
    ///   - path: The path of the stream, as in ``resource(_:as:variant:)``.
    ///   - patterns: Resources that events can change without having done so yet.
    ///   - replays: Whether the server sends all missed events to a client that names its last one. Then nothing becomes
    ///     invalid after an interruption, as long as events have ids that can be sent: up to 1,024 bytes, without control
    ///     characters. The default is `false`.
    ///   - maximumSize: The maximum size of an event in bytes. A larger one ends the stream as `tooLarge`.
    ///   - receive: Receives the events in order. The next one is read when it has returned.
    /// - Returns: The subscription, which ends with its last reference.
    public func follow(
        eventsAt path: String, feeding patterns: [ResourcePattern] = [], replays: Bool = false,
        maximumSize: Int = 1 << 20,
        _ receive: @escaping @Sendable (ServerSentEvent, PushedResources) async -> Void
    ) -> EventSubscription {
        let stream = resource(at: .path(path), variant: nil)
        let resources = PushedResources(service: stream.service, memory: PushedMemory(patterns))
        return EventSubscription(
            EventFollower(
                stream: stream, resources: resources, machine: EventStreamMachine(replays: replays),
                maximumSize: maximumSize, receive: receive))
    }
}

/// Keeps a subscription connected.
final class EventFollower: Sendable {
    private struct State {
        var status = EventSubscription.Status.connecting
        var machine: EventStreamMachine
        /// The connection that was opened last.
        var connection: EventConnection?
        /// Reads that connection, or waits for the next one.
        var work: Task<RequestFailure?, Never>?
        /// Whether that is a wait for credentials.
        var awaitsLogin = false
    }

    private let stream: AnyResource
    private let resources: PushedResources
    private let maximumSize: Int
    private let receive: @Sendable (ServerSentEvent, PushedResources) async -> Void
    private let state: Mutex<State>

    init(
        stream: AnyResource, resources: PushedResources, machine: EventStreamMachine, maximumSize: Int,
        receive: @escaping @Sendable (ServerSentEvent, PushedResources) async -> Void
    ) {
        (self.stream, self.resources, self.maximumSize, self.receive) = (stream, resources, maximumSize, receive)
        state = Mutex(State(machine: machine))
    }

    private var service: HTTPResourceService { stream.service }

    var status: EventSubscription.Status { state.withLock { $0.status } }

    /// Whether ``run()`` has ended.
    var hasEnded: Bool {
        switch status {
        case .ended, .failed: true
        case .connecting, .connected, .waiting: false
        }
    }

    /// Lets the service end the stream.
    func register(_ task: Task<Void, Never>) {
        service.followers.add(self, task)
        if service.isClosed { task.cancel() }
    }

    /// Ends the present connection, because there is another environment.
    func reconnect() { state.withLock { $0.work }?.cancel() }

    /// Ends the present connection if it was opened with credentials of an origin.
    func credentialsEnded(at origin: Origin) {
        let (connection, work) = state.withLock { ($0.connection, $0.work) }
        if connection?.credentialsEnded(at: origin) == true { work?.cancel() }
    }

    /// Ends a wait for credentials.
    func credentialsWereSet() { state.withLock { $0.awaitsLogin ? $0.work : nil }?.cancel() }

    func run() async {
        let end = await follow()
        state.withLock { $0.status = end }
        service.followers.remove(self)
    }

    private func follow() async -> EventSubscription.Status {
        var former: EventConnection?
        var ended: EventConnection?
        while !Task.isCancelled, !service.isClosed {
            let environment = service.adoptEnvironment()
            if let last = former, !isLive(last) || last.precedesLogin(environment) {
                end(last)
                (former, ended) = (nil, last)
            }
            if let ended, ended.awaitsLogin(before: environment) {
                await waitForLogin(after: ended)
                continue
            }
            let connection = EventConnection(environment, of: stream.core.address)
            (former, ended) = (connection, nil)
            state.withLock { ($0.status, $0.connection) = (.connecting, connection) }
            let failure = await interruptible(unless: { !isLive(connection) }) { [self] in
                await readEvents(of: connection)
            }
            guard !Task.isCancelled, !service.isClosed else { break }
            if let end = await pause(after: failure, of: connection) { return end }
        }
        return .ended
    }

    /// Whether a connection belongs to the environment and the credentials of now.
    private func isLive(_ connection: EventConnection) -> Bool {
        service.adoptEnvironment()
        return service.isLive(connection)
    }

    /// Forgets what belonged to a connection of another environment or other credentials.
    private func end(_ connection: EventConnection) {
        if service.adoption.isCurrent(connection.environment) {
            invalidate()
        } else {
            resources.memory.forget()
        }
        state.withLock { $0.machine.serverChanged() }
    }

    /// Waits before the next connection, unless the environment or the credentials have changed.
    ///
    /// - Returns: How the stream has ended; `nil` if it goes on.
    private func pause(
        after failure: RequestFailure?, of connection: EventConnection
    ) async -> EventSubscription.Status? {
        guard isLive(connection) else { return nil }
        if state.withLock({ $0.machine.missesEvents }) { invalidate() }
        let retryAfter = failure?.retryAfter(now: service.clock.date)
        let random = service.clock.random()
        switch state.withLock({ $0.machine.ended(failure, retryAfter: retryAfter, random: random) }) {
        case .end(let failure): return failure.map { .failed($0) } ?? .ended
        case .wait(let pause):
            state.withLock { $0.status = .waiting }
            await interruptible(unless: { !isLive(connection) }) { [service] in
                try? await service.clock.sleep(for: pause)
                return nil
            }
            return nil
        }
    }

    /// Waits until there are credentials again.
    private func waitForLogin(after ended: EventConnection) async {
        state.withLock { ($0.status, $0.awaitsLogin) = (.waiting, true) }
        await interruptible(unless: { !ended.awaitsLogin(before: service.adoptEnvironment()) }) {
            // It ends by its cancellation.
            _ = await Completion<Void>().value()
            return nil
        }
        state.withLock { $0.awaitsLogin = false }
    }

    /// Does work that ``reconnect()``, the end of the credentials and the end of the subscription cancel.
    ///
    /// - Parameter isOver: Whether its reason is gone, which may have happened before it could be cancelled.
    @discardableResult
    private func interruptible(
        unless isOver: () -> Bool, _ work: @escaping @Sendable () async -> RequestFailure?
    ) async -> RequestFailure? {
        let task = Task { await work() }
        state.withLock { $0.work = task }
        if isOver() { task.cancel() }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Reads events until the connection ends.
    private func readEvents(of connection: EventConnection) async -> RequestFailure? {
        do throws(RequestFailure) {
            try await receiveEvents(of: connection)
            return nil
        } catch {
            return error
        }
    }

    private func receiveEvents(of connection: EventConnection) async throws(RequestFailure) {
        let environment = connection.environment
        let request = try await request(in: environment)
        let response = try await service.transmit(request, for: stream.core, in: environment)
        connection.received(response)
        guard isLive(connection) else { return }
        var events = try EventStreamRules.events(of: response, maximumSize: maximumSize).makeAsyncIterator()
        let isGap = state.withLock { state in
            state.status = .connected
            return state.machine.connected()
        }
        // Events that come from now on are not missed, so what is loaded from now on is current.
        if isGap { loadInvalid() }
        var resources = resources
        resources.connection = connection
        // Blocks without data count too, however the connection ends.
        defer { state.withLock { $0.machine.noted(id: events.lastEventID, retry: events.retry) } }
        while let event = try await events.next() {
            guard !Task.isCancelled, isLive(connection) else { return }
            state.withLock { $0.machine.received(event) }
            await receive(event, resources)
        }
    }

    private func request(in environment: AdoptedEnvironment) async throws(RequestFailure) -> DataRequest {
        try service.checkOpen()
        var fields: HTTPFields = [.accept: "text/event-stream", .cacheControl: "no-store"]
        let id = state.withLock { $0.machine.lastEventID }
        if !id.isEmpty { fields["Last-Event-ID"] = id }
        let recipe = RequestRecipe(method: .get, headerFields: fields)
        var request = try service.request(recipe, for: stream.core, in: environment)
        EventStreamRules.configure(&request, idleTimeout: nil)
        let configuration = service.effective(for: stream.core).values
        for mutation in configuration.mutations { try await ResourceExchange.apply(mutation, to: &request) }
        if request.errorModel == nil { request.errorModel = configuration.errorModel }
        return request
    }

    private func invalidate() {
        for core in resources.memory.cores(in: service.table) { core.invalidate() }
    }

    /// Invalidates what the stream feeds, and loads the observed ones in the background.
    private func loadInvalid() { service.invalidate(resources.memory.cores(in: service.table)) }
}
