import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// The timer of a service for all resources that are loaded regularly.
///
/// One task sleeps until the first of them is due. There is no task while no resource waits.
final class PollingTimer: Sendable {
    private struct Waiting: Sendable {
        let core: ResourceCore
        let polling: ResourcePolling
    }

    private struct State {
        /// The service. It is weak, because the timer can wait for a resource that only an observer object holds.
        weak var service: HTTPResourceService?
        var queue = Heap<ObjectIdentifier, Duration, Waiting>()
        /// The task that sleeps, and when it wakes up.
        var sleep: (task: Task<Void, Never>, end: Duration)?
        /// The number of the last task.
        var lastTask: UInt64 = 0
        var isReachable = true
        var isStopped = false
    }

    /// The number of resources that are taken from the queue at once.
    private static let batch = 64

    let clock: RequestClock
    private let state = Mutex(State())
    private let attached = Atomic(false)

    init(_ clock: RequestClock) { self.clock = clock }

    /// The service that starts the loads; `nil` before the first resource is polled, and after the end of the service.
    var service: HTTPResourceService? { state.withLock { $0.service } }

    /// Whether a resource was ever polled, or is configured to be.
    var isAttached: Bool { attached.load(ordering: .acquiring) }

    /// Sets the service. A service without polling has no weak reference, because a weak reference makes all handles
    /// slower.
    func attach(_ service: HTTPResourceService) {
        guard !isAttached else { return }
        state.withLock { $0.service = service }
        attached.store(true, ordering: .releasing)
    }

    /// Whether there is a route. Without one, no resources are loaded regularly.
    var isReachable: Bool {
        get { state.withLock { $0.isReachable } }
        set { state.withLock { $0.isReachable = newValue } }
    }

    /// The number of resources that wait.
    var count: Int { state.withLock { $0.queue.count } }

    // MARK: Actions

    /// Performs an action of a resource's machine.
    ///
    /// - Parameter step: The number of the action. An action that a later one has overtaken has no effect.
    func apply(_ action: PollingMachine.Action, step: UInt64, _ polling: ResourcePolling, _ core: ResourceCore) {
        let (ended, released) = state.withLock { state -> (Task<Void, Never>?, Waiting?) in
            guard !state.isStopped, step > polling.appliedStep.load(ordering: .relaxed) else { return (nil, nil) }
            polling.appliedStep.store(step, ordering: .relaxed)
            var released: Waiting?
            let id = ObjectIdentifier(polling)
            if case .wait(let time) = action {
                state.queue.set(id, at: time, Waiting(core: core, polling: polling))
            } else {
                released = state.queue.remove(id)
            }
            return (adjust(&state), released)
        }
        // Foreign code may run here: the handlers of the task's cancellation.
        ended?.cancel()
        _ = consume released
        if action == .load { start(core, polling) }
    }

    /// Makes sure that a task sleeps at most until the first resource is due.
    ///
    /// - Returns: The task to cancel.
    private func adjust(_ state: inout State) -> Task<Void, Never>? {
        guard let first = state.queue.first else {
            defer { state.sleep = nil }
            return state.sleep?.task
        }
        if let sleep = state.sleep, sleep.end <= first { return nil }
        let ended = state.sleep?.task
        state.lastTask += 1
        let number = state.lastTask
        state.sleep = (.counted { await self.run(number) }, first)
        return ended
    }

    private func run(_ number: UInt64) async {
        while let end = nextEnd(number) {
            do {
                try await clock.sleep(until: end)
            } catch {
                // A task that was replaced changes nothing.
                return state.withLock { if $0.lastTask == number { $0.sleep = nil } }
            }
            while true {
                let now = clock.now
                let due = state.withLock {
                    $0.lastTask == number ? $0.queue.takeDue(at: now, limit: Self.batch) : []
                }
                if due.isEmpty { break }
                for waiting in due {
                    waiting.polling.note(.time)
                    waiting.polling.settle(waiting.core)
                }
            }
        }
    }

    /// The time until which a task sleeps; `nil` if the task was replaced, or if no resource waits.
    private func nextEnd(_ number: UInt64) -> Duration? {
        state.withLock { state in
            guard state.lastTask == number, let sleep = state.sleep else { return nil }
            guard let first = state.queue.first else {
                state.sleep = nil
                return nil
            }
            state.sleep = (sleep.task, first)
            return first
        }
    }

    private func start(_ core: ResourceCore, _ polling: ResourcePolling) {
        // After its service was released, nothing is loaded any more.
        guard let service else { return }
        let environment = service.adoptEnvironment()
        let options = LoadOptions(backgroundOf: core, validates: true, service, in: environment)
        guard let load = core.beginPolledLoad(options, service) else {
            polling.note(.refused)
            return polling.settle(core)
        }
        load.start()
    }

    /// Ends all waits, because the service was closed or released.
    func stop() {
        let (ended, released) = state.withLock { state in
            defer {
                state.isStopped = true
                state.sleep = nil
                state.queue = Heap()
            }
            return (state.sleep?.task, state.queue)
        }
        ended?.cancel()
        _ = consume released
    }
}

extension HTTPResourceService {
    /// Reads the configuration of observed resources again, because it may have switched their regular loads on or off.
    func reconfigurePolling() {
        guard polling.isAttached, !isClosed else { return }
        for core in table.cores where core.observerCount > 0 { core.note(effective(for: core), self) }
    }
}
