import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// Keeps a subscription connected. It reads a separate stream for each environment and account.
final class EventFollower: Sendable {
    private struct State {
        var status = EventSubscription.Status.connecting
        var machine: EventStreamMachine
        /// The connection that was opened last.
        var connection: EventConnection?
        /// Reads the stream, or waits for credentials.
        var work: Task<RequestFailure?, Never>?
        /// Whether `work` is a wait for credentials.
        var awaitsLogin = false
        /// Whether the next connection belongs to another stream.
        var isSuperseded = false
    }

    /// The maximum number of servers whose last connection is remembered.
    private static let maximumFormer = 16

    let stream: AnyResource
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

    var status: EventSubscription.Status {
        get { state.withLock { $0.status } }
        set { state.withLock { $0.status = newValue } }
    }

    /// The connection that was opened last.
    var connection: EventConnection? { state.withLock { $0.connection } }

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

    /// Ends the current connection after the environment has changed.
    func reconnect() { state.withLock { $0.work }?.cancel() }

    /// Ends the current connection if it was opened with credentials of an origin.
    func credentialsEnded(at origin: Origin) {
        let (connection, work) = state.withLock { ($0.connection, $0.work) }
        if connection?.credentialsEnded(at: origin) == true { work?.cancel() }
    }

    /// Ends a wait for credentials.
    func credentialsWereSet() { state.withLock { $0.awaitsLogin ? $0.work : nil }?.cancel() }

    func run() async {
        status = await follow()
        service.followers.remove(self)
    }

    private func follow() async -> EventSubscription.Status {
        // The last connection to each server. Its credentials can end while another environment is used.
        var former: [EventConnection] = []
        while !Task.isCancelled, !service.isClosed {
            let environment = service.adoptEnvironment()
            if let ended = former.last(where: { $0.awaitsLogin(before: environment) }) {
                await waitForLogin(after: ended)
                continue
            }
            // The connection belongs to the environment that was checked above, even if the environment changes before
            // it is opened.
            let connection = EventConnection(environment, of: stream.core.address)
            opens(connection)
            let reading = await interruptible(unless: { !isLive(connection) }) { [self] in
                await readEvents(from: connection)
            }
            guard !Task.isCancelled, !service.isClosed else { break }
            let (last, isSuperseded) = state.withLock { ($0.connection ?? connection, $0.isSuperseded) }
            former.removeAll { $0.isOfSameOrigin(as: last) }
            former = former.suffix(Self.maximumFormer - 1) + [last]
            if isSuperseded || !isLive(last) {
                end(last)
            } else if !reading.isInterrupted {
                return reading.failure.map { .failed($0) } ?? .ended
            }
        }
        return .ended
    }

    /// Whether a connection belongs to the current environment and credentials.
    func isLive(_ connection: EventConnection) -> Bool {
        service.adoptEnvironment()
        return service.isLive(connection)
    }

    /// Invalidates or forgets the resources of an ended connection, and lets the next connection begin another stream.
    private func end(_ connection: EventConnection) {
        if service.adoption.isCurrent(connection.environment) {
            invalidate()
        } else {
            resources.memory.forget()
        }
        state.withLock { $0.machine.serverChanged() }
    }

    /// Waits until there are credentials again.
    private func waitForLogin(after ended: EventConnection) async {
        state.withLock { ($0.status, $0.awaitsLogin) = (.waiting, true) }
        await interruptible(unless: { !ended.awaitsLogin(before: service.adoptEnvironment()) }) {
            // Only cancellation ends this wait.
            _ = await OneShot<Void>().valueUnlessCancelled()
            return nil
        }
        state.withLock { $0.awaitsLogin = false }
    }

    /// Does work that is cancelled by ``reconnect()``, by the end of the credentials, or by the end of the
    /// subscription.
    ///
    /// - Parameter isOver: Whether the reason for the work is gone, which may have happened before the work could be
    ///   cancelled.
    /// - Returns: The failure of the work, and whether it was cancelled.
    @discardableResult
    private func interruptible(
        unless isOver: () -> Bool, _ work: @escaping @Sendable () async -> RequestFailure?
    ) async -> (failure: RequestFailure?, isInterrupted: Bool) {
        let task = Task { await work() }
        state.withLock { $0.work = task }
        if isOver() { task.cancel() }
        return await withTaskCancellationHandler {
            (await task.value, task.isCancelled)
        } onCancel: {
            task.cancel()
        }
    }

    /// Reads events until the stream ends, or the environment or the credentials change.
    private func readEvents(from first: EventConnection) async -> RequestFailure? {
        let machine = state.withLock { $0.machine }
        var reader = EventStreamReader(
            FollowedEvents(self, from: first), machine: machine, maximumSize: maximumSize)
        // The ID of the last event that was passed on.
        var passed = machine.lastEventID
        var isDropped = false
        defer {
            let machine = reader.machine
            state.withLock { state in
                state.machine = machine
                if isDropped { state.machine.dropped(after: passed) }
            }
        }
        do throws(RequestFailure) {
            var resources = resources
            while let event = try await reader.next() {
                guard !Task.isCancelled, let connection, isLive(connection) else {
                    isDropped = true
                    return nil
                }
                resources.connection = connection
                await receive(event, resources)
                passed = reader.machine.lastEventID
            }
            return nil
        } catch {
            return error
        }
    }

    /// Records the connection that is about to be opened.
    func opens(_ connection: EventConnection) {
        state.withLock { ($0.status, $0.connection, $0.isSuperseded) = (.connecting, connection, false) }
    }

    /// Marks the next connection as part of another stream, because the environment or the credentials have changed.
    func supersede() -> RequestFailure {
        state.withLock { $0.isSuperseded = true }
        return RequestFailure(.authorization, "The environment or the credentials of the event stream have changed.")
    }

    func invalidate() {
        for core in resources.memory.cores(in: service.table) { core.invalidate() }
    }

    /// Invalidates the resources that the stream feeds, and loads the observed ones in the background.
    func loadInvalid() { service.invalidate(resources.memory.cores(in: service.table)) }
}
