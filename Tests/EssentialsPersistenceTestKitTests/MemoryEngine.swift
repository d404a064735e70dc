import Dispatch
import EssentialsTools

@testable import EssentialsPersistence

/// What all scopes over memory share: the tables, the levels of the scopes, and the observers.
final class MemoryEngine: Sendable {
    struct Observer<Event> {
        let scopes: Set<Int>
        let call: @Sendable (Event) -> Void
    }

    struct State {
        var phase = PersistenceState.ready
        /// What runs when the store is open.
        var waiting: [@Sendable () -> Void] = []
        var tables: MemoryTables
        /// The pending rows of each scope that is open.
        var levels: [Int: OverlayLevel] = [:]
        var next = 0
        var changes: [Int: Observer<PersistenceChange>] = [:]
        var states: [Int: Observer<PersistenceState>] = [:]
        /// The latest change, which observers that are added later must not hear of.
        var past: PersistenceChange?
    }

    /// The engines whose closures run above this call.
    @TaskLocal static var running: Set<ObjectIdentifier> = []

    let fault: MemoryFault?
    let state: Mutex<State>
    /// Calls that change something run one after another.
    let changing = DispatchQueue(label: "memory.changing")
    /// Observers are called one after another.
    private let observers = DispatchQueue(label: "memory.observers")

    init(_ phase: PersistenceState, _ tables: MemoryTables, _ fault: MemoryFault?) {
        self.fault = fault
        state = Mutex(State(phase: phase, tables: tables))
    }

    func open() {
        let waiting = state.withLock { state in
            guard state.phase == .opening else { return [] as [@Sendable () -> Void] }
            state.phase = .ready
            defer { state.waiting = [] }
            return state.waiting
        }
        announce(.ready, in: nil)
        for body in waiting { body() }
    }

    func newNumber() -> Int {
        state.withLock { state in
            state.next += 1
            return state.next
        }
    }

    // MARK: Closures of callers

    var isRunningHere: Bool { Self.running.contains(ObjectIdentifier(self)) }

    /// Runs a closure of a caller, inside which blocking calls are refused.
    func marking<Value>(_ body: () throws(PersistenceFailure) -> Value) throws(PersistenceFailure) -> Value {
        let outcome = Self.$running.withValue(Self.running.union([ObjectIdentifier(self)])) {
            Result { () throws(PersistenceFailure) in try body() }
        }
        return try outcome.get()
    }

    // MARK: Observers

    func observe(
        _ scopes: Set<Int>, _ call: @escaping @Sendable (PersistenceChange) -> Void
    ) -> PersistenceObservation {
        let number = newNumber()
        let past = state.withLock { state in
            state.changes[number] = Observer(scopes: scopes, call: call)
            return state.past
        }
        if fault == .tellsOfThePast, let past { observers.async { call(past) } }
        return PersistenceObservation { [weak self] in self?.state.withLock { $0.changes[number] = nil } }
    }

    /// The number that was given last.
    var newest: Int { state.withLock { $0.next } }

    /// Tells observers of a change: those that see a scope, or all if the store has changed. Observers after the newest were
    /// added after the change.
    func notify(_ keys: Set<RowKey>?, in scope: Int?, through newest: Int) {
        guard keys?.isEmpty != true, fault != .tellsNobody else { return }
        let scope = fault == .tellsEverybody ? nil : scope
        let tables = keys.map { Dictionary(grouping: $0, by: \.table).mapValues { Set($0.map(\.id)) } }
        let change =
            fault == .tellsNoRows
            ? .unknown : tables.map { PersistenceChange($0.mapValues { .ids($0) }) } ?? PersistenceChange.unknown
        state.withLock { $0.past = change }
        observers.async { [self] in
            let calls = state.withLock { state in
                state.changes.filter { $0.key <= newest }.sorted { $0.key < $1.key }.map(\.value)
            }
            for observer in calls where scope.map({ observer.scopes.contains($0) }) ?? true { observer.call(change) }
        }
    }

    func observeState(
        _ scopes: Set<Int>, _ present: @escaping @Sendable () -> PersistenceState,
        _ call: @escaping @Sendable (PersistenceState) -> Void
    ) -> PersistenceObservation {
        let number = newNumber()
        // The present state is told first, because the observer is added on the same queue.
        observers.async { [self] in
            let present = present()
            call(present)
            if present != .closed { state.withLock { $0.states[number] = Observer(scopes: scopes, call: call) } }
        }
        return PersistenceObservation { [weak self] in self?.forgetState(number) }
    }

    private func forgetState(_ number: Int) {
        observers.async { [self] in state.withLock { $0.states[number] = nil } }
    }

    func announce(_ new: PersistenceState, in scope: Int?) {
        observers.async { [self] in
            let calls = state.withLock { state in
                let found = state.states.filter { scope.map($0.value.scopes.contains) ?? true }
                if new == .closed { for number in found.keys { state.states[number] = nil } }
                return found.values.map(\.call)
            }
            for call in calls { call(new) }
        }
    }
}
