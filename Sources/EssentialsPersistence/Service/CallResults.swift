import Dispatch
import EssentialsTools

/// The job of a call. The call may be cancelled before the job exists.
final class JobReference: Sendable {
    private let state = Mutex<(job: PersistenceJob?, isCancelled: Bool)>((nil, false))

    var isCancelled: Bool { state.withLock { $0.isCancelled || $0.job?.isCancelled == true } }

    func set(_ job: PersistenceJob) {
        let isCancelled = state.withLock { state in
            state.job = job
            return state.isCancelled
        }
        if isCancelled { job.cancel() }
    }

    func cancel() {
        let job = state.withLock { state in
            state.isCancelled = true
            return state.job
        }
        job?.cancel()
    }
}

/// Holds a result of a call until it is needed.
final class CallResult<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)

    var value: Value? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

extension DispatchQueue {
    /// The queue of completion handlers without a queue.
    static let completions = DispatchQueue(label: "ServiceEssentials.persistence.callbacks", attributes: .concurrent)
}
