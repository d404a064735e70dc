package import Dispatch
import EssentialsTools

/// The current status and its observers.
package final class StatusBoard: Sendable {
    private struct Entry {
        let observer: StatusObserver
        /// Called when no more statuses follow.
        let finish: @Sendable () -> Void
    }

    private struct State {
        var status = ReachabilityStatus.unknown
        var version: UInt64 = 1
        var isClosed = false
        var lastNumber: UInt64 = 0
        var entries: [UInt64: Entry] = [:]
    }

    private let state = Mutex(State())
    /// The status at the end of the initial phase.
    private let settled = OneShot<ReachabilityStatus>(maximumWaiters: StatusBoard.limit)
    private let queue = DispatchQueue(label: "essentials.reachability")
    /// The maximum number of observers, and the maximum number of tasks that wait for the first status.
    static let limit = 4096

    package init() {}

    package var status: ReachabilityStatus { state.withLock { $0.status } }
    var observerCount: Int { state.withLock { $0.entries.count } }

    // MARK: For the tracker

    package func publish(_ status: ReachabilityStatus) {
        let (observers, version) = state.withLock { state -> ([StatusObserver], UInt64) in
            guard !state.isClosed, state.status != status else { return ([], 0) }
            state.status = status
            state.version += 1
            return (state.entries.values.map(\.observer), state.version)
        }
        for observer in observers { observer.offer(status, version: version) }
    }

    /// Ends the initial phase, and resumes the tasks that wait for the first status.
    package func settle() {
        settled.provide(status)
    }

    /// Ends all observations.
    package func close() {
        let entries = state.withLock { state -> [Entry] in
            guard !state.isClosed else { return [] }
            state.isClosed = true
            state.status = .unknown
            defer { state.entries = [:] }
            return Array(state.entries.values)
        }
        for entry in entries {
            entry.observer.end()
            entry.finish()
        }
        settle()
    }

    // MARK: For observers

    package func stream() -> AsyncStream<ReachabilityStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ReachabilityStatus.self, bufferingPolicy: .bufferingNewest(1))
        let observer = StatusObserver(schedule: { $0() }, deliver: { continuation.yield($0) })
        guard let number = add(observer, finish: { continuation.finish() }) else {
            continuation.yield(status)
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.remove(number) }
        return stream
    }

    package func observe(
        on queue: DispatchQueue?, _ handler: @escaping @Sendable (ReachabilityStatus) -> Void
    ) -> ReachabilityObservation {
        let queue = queue ?? self.queue
        let observer = StatusObserver(schedule: { work in queue.async(execute: work) }, deliver: handler)
        guard let number = add(observer, finish: {}) else {
            let status = self.status
            queue.async { handler(status) }
            let observation = ReachabilityObservation {}
            observation.cancel()
            return observation
        }
        return ReachabilityObservation { [weak self] in
            observer.end()
            self?.remove(number)
        }
    }

    /// The status after the initial phase, or the current one if the task is cancelled.
    func settledStatus() async -> ReachabilityStatus {
        if settled.isProvided { return status }
        return await settled.valueUnlessCancelled() ?? status
    }

    /// Adds an observer and offers it the current status; `nil` if the limit is reached or the board is closed.
    private func add(_ observer: StatusObserver, finish: @escaping @Sendable () -> Void) -> UInt64? {
        let added = state.withLock { state -> (UInt64, ReachabilityStatus, UInt64)? in
            guard !state.isClosed, state.entries.count < Self.limit else { return nil }
            let number = Self.nextNumber(&state)
            state.entries[number] = Entry(observer: observer, finish: finish)
            return (number, state.status, state.version)
        }
        guard let (number, status, version) = added else { return nil }
        observer.offer(status, version: version)
        return number
    }

    private func remove(_ number: UInt64) {
        // Released after the lock: the entry holds a closure, and releasing that can run any code of its owner.
        let entry = state.withLock { $0.entries.removeValue(forKey: number) }
        entry?.observer.end()
    }

    private static func nextNumber(_ state: inout State) -> UInt64 {
        state.lastNumber += 1
        return state.lastNumber
    }
}
