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
        /// It waits before it connects again.
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
        /// Reads the present connection.
        var connection: Task<RequestFailure?, Never>?
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
    func reconnect() { state.withLock { $0.connection }?.cancel() }

    func run() async {
        let end = await follow()
        state.withLock { $0.status = end }
        service.followers.remove(self)
    }

    private func follow() async -> EventSubscription.Status {
        var environment = service.adoptEnvironment()
        while !Task.isCancelled {
            state.withLock { $0.status = .connecting }
            let failure = await connect(in: environment)
            guard !Task.isCancelled, !service.isClosed else { break }
            let current = service.adoptEnvironment()
            if current !== environment {
                environment = current
                resources.memory.forget()
                state.withLock { $0.machine.serverChanged() }
                continue
            }
            if state.withLock({ $0.machine.missesEvents }) { invalidate() }
            let retryAfter = failure?.retryAfter(now: service.clock.date)
            let random = service.clock.random()
            switch state.withLock({ $0.machine.ended(failure, retryAfter: retryAfter, random: random) }) {
            case .end(let failure): return failure.map { .failed($0) } ?? .ended
            case .wait(let pause):
                state.withLock { $0.status = .waiting }
                try? await service.clock.sleep(for: pause)
            }
        }
        return .ended
    }

    /// Reads events until the connection ends.
    private func connect(in environment: AdoptedEnvironment) async -> RequestFailure? {
        let connection = Task { () -> RequestFailure? in
            do throws(RequestFailure) {
                try await readEvents(in: environment)
                return nil
            } catch {
                return error
            }
        }
        state.withLock { $0.connection = connection }
        // The environment may have changed before the connection could be cancelled.
        if service.adoptEnvironment() !== environment { connection.cancel() }
        return await withTaskCancellationHandler {
            await connection.value
        } onCancel: {
            connection.cancel()
        }
    }

    private func readEvents(in environment: AdoptedEnvironment) async throws(RequestFailure) {
        let response = try await service.transmit(try await request(in: environment), for: stream.core)
        guard response.headerFields[.contentType]?.lowercased().hasPrefix("text/event-stream") == true else {
            throw RequestFailure(
                .protocolViolation, "The response is not an event stream.",
                remedy: "Correct the path, or the type of the response: text/event-stream.")
        }
        let isGap = state.withLock { state in
            state.status = .connected
            return state.machine.connected()
        }
        // Events that come from now on are not missed, so what is loaded from now on is current.
        if isGap { await loadInvalid() }
        var resources = resources
        resources.environment = environment
        for try await event in response.body.serverSentEvents(maximumSize: maximumSize) {
            guard !Task.isCancelled, service.adoptEnvironment() === environment else { return }
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
        request.expectedStatus = 200
        request.options.delivery = .streamed
        request.options.idleTimeout = nil
        request.joins = false
        // The pauses are those of the stream.
        request.retry = .never
        let configuration = service.effective(for: stream.core).values
        for mutation in configuration.mutations { try await ResourceExchange.apply(mutation, to: &request) }
        if request.errorModel == nil { request.errorModel = configuration.errorModel }
        return request
    }

    private func invalidate() {
        for core in resources.memory.cores(in: service.table) { core.invalidate() }
    }

    /// Invalidates what the stream feeds, and begins to load the observed ones in a task of its own.
    private func loadInvalid() async {
        let cores = resources.memory.cores(in: service.table)
        for core in cores { core.invalidate() }
        let observed = cores.filter { $0.observerCount > 0 }
        guard !observed.isEmpty else { return }
        Task { [service] in
            await withTaskGroup(of: Void.self) { group in
                for (index, core) in observed.enumerated() {
                    if index >= ReachabilityRecovery.maximumLoads { await group.next() }
                    group.addTask { _ = await service.loadIfObserved(core)?.outcome() }
                }
            }
        }
    }
}
