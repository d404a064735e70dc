import Dispatch
import EssentialsTools

@testable import EssentialsPersistence

/// A persistence service over memory: the six requirements, and nothing else.
final class MemoryScope: PersistenceService {
    let name: String
    let engine: MemoryEngine
    /// The numbers of the scopes from the root scope to this one, and their names.
    let path: [(number: Int, name: String)]
    let resolution: ConflictResolution?
    private let parent: MemoryScope?

    /// The root scope of a new store.
    init(
        _ fault: MemoryFault? = nil, phase: PersistenceState = .ready, tables: MemoryTables? = nil
    ) {
        name = "memory"
        engine = MemoryEngine(phase, tables ?? MemoryTables(fault), fault)
        path = [(engine.newNumber(), "memory")]
        (parent, resolution) = (nil, nil)
        add()
    }

    private init(_ parent: MemoryScope, _ name: String, _ resolution: ConflictResolution?) {
        self.name = "\(parent.name) \(name)"
        engine = parent.engine
        path = parent.path + [(engine.newNumber(), name)]
        self.parent = parent
        self.resolution = resolution ?? parent.resolution
        add()
    }

    private func add() {
        let number = number
        engine.state.withLock { $0.levels[number] = OverlayLevel() }
    }

    deinit { drop() }

    var number: Int { path[path.count - 1].number }

    /// The rows in the store.
    var tables: MemoryTables { engine.state.withLock { $0.tables } }

    var state: PersistenceState { engine.state.withLock { state(in: $0) } }

    private func state(in state: MemoryEngine.State) -> PersistenceState {
        let isClosed = path.contains { state.levels[$0.number] == nil } && engine.fault != .staysOpen
        return isClosed ? .closed : state.phase
    }

    func run(_ job: PersistenceJob) {
        let isChanging = job.plan.action != .read
        if job.plan.isBlocking {
            // Reads alone could run within a closure.
            guard !engine.isRunningHere || engine.fault == .runsWithinClosures && !isChanging else {
                return job.finish(.failure(PersistenceFailure(.reentrant, "The call is made inside a closure.")))
            }
            return isChanging ? engine.changing.sync { execute(job) } : execute(job)
        }
        // A serial queue of its own has a thread of its own.
        let queue = isChanging ? engine.changing : DispatchQueue(label: "memory.reading")
        if engine.fault == .answersTooEarly, state == .opening {
            return job.finish(.failure(PersistenceFailure(.notReady, "The store is being opened.")))
        }
        let isWaiting = engine.state.withLock { state in
            guard state.phase == .opening else { return false }
            state.waiting.append { queue.async { self.execute(job) } }
            return true
        }
        if !isWaiting { queue.async { self.execute(job) } }
    }

    private func execute(_ job: PersistenceJob) {
        let memoryJob = MemoryJob(job, self)
        let result: Result<SaveReport, PersistenceFailure>
        do throws(PersistenceFailure) {
            try checkState()
            result = .success(try memoryJob.perform())
        } catch {
            result = .failure(error.naming(store: "memory"))
        }
        let newest = engine.newest
        job.finish(result)
        for (keys, scope) in memoryJob.changes { engine.notify(keys, in: scope, through: newest) }
    }

    func checkState() throws(PersistenceFailure) {
        switch state {
        case .ready: return
        case .opening: throw PersistenceFailure(.notReady, "The store is being opened.")
        case .failed(let failure):
            throw engine.fault == .hidesCause ? PersistenceFailure(.file, "") : failure.ofOpening()
        case .closed: throw PersistenceFailure(.closed, "The scope is closed.")
        }
    }

    func child(
        _ name: String, resolving resolution: ConflictResolution?
    ) throws(PersistenceFailure) -> any PersistenceService {
        guard state != .closed else { throw PersistenceFailure(.closed, "The scope is closed.") }
        return MemoryScope(self, name, resolution)
    }

    func observeChanges(
        _ observer: @escaping @Sendable (PersistenceChange) -> Void
    ) throws(PersistenceFailure) -> PersistenceObservation {
        guard state != .closed else { throw PersistenceFailure(.closed, "The scope is closed.") }
        return engine.observe(Set(path.map(\.number)), observer)
    }

    func observeState(_ observer: @escaping @Sendable (PersistenceState) -> Void) -> PersistenceObservation {
        engine.observeState(Set(path.map(\.number)), { self.state }, observer)
    }

    private func drop() {
        let isRoot = parent == nil
        engine.state.withLock { state in
            state.levels[number] = nil
            guard isRoot, engine.fault != .staysOpen else { return }
            state.phase = .closed
        }
        engine.announce(.closed, in: isRoot ? nil : number)
    }

    func close() async {
        let waiting = engine.state.withLock { state in
            defer { if parent == nil { state.waiting = [] } }
            return parent == nil ? state.waiting : []
        }
        drop()
        for body in waiting { body() }
        // Calls that change something end before.
        await withCheckedContinuation { continuation in engine.changing.async { continuation.resume() } }
    }
}
