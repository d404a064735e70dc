import Dispatch
import EssentialsTools

/// An `async` call that waits for its job to end.
struct CallWaiting<Value: Sendable> {
    /// Runs a job, and cancels the job if the task is cancelled.
    nonisolated(nonsending) func result(
        _ job: (@escaping @Sendable (Result<Value, PersistenceFailure>) -> Void) -> PersistenceJob,
        run: (PersistenceJob) -> Void
    ) async throws(PersistenceFailure) -> Value {
        let cancellation = JobReference()
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let job = job { continuation.resume(returning: $0) }
                cancellation.set(job)
                run(job)
            }
        } onCancel: {
            cancellation.cancel()
        }.get()
    }
}

/// The job of a call. The task may be cancelled before the job exists.
private final class JobReference: Sendable {
    private let state = Mutex<(job: PersistenceJob?, isCancelled: Bool)>((nil, false))

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

/// The result of a blocking call.
final class CallResult<Value: Sendable>: Sendable {
    private let value = Mutex<Result<Value, PersistenceFailure>?>(nil)

    func set(_ result: Result<Value, PersistenceFailure>) { value.withLock { $0 = result } }

    func take() -> Result<Value, PersistenceFailure> {
        value.withLock { $0 } ?? .failure(PersistenceFailure(.closed, "The call has not ended."))
    }
}

/// Runs the completion handler of one call on its queue.
final class CallbackQueue: Sendable {
    private static let standard = DispatchQueue(
        label: "ServiceEssentials.persistence.callbacks", attributes: .concurrent)

    private let queue: DispatchQueue
    private let running = Mutex<PersistenceJob?>(nil)

    init(_ queue: DispatchQueue?) { self.queue = queue ?? Self.standard }

    /// The job of the call.
    var job: PersistenceJob? {
        get { running.withLock { $0 } }
        set { running.withLock { $0 = newValue } }
    }

    func deliver<Value: Sendable>(
        _ result: Result<Value, PersistenceFailure>,
        to completion: @escaping @Sendable (Result<Value, PersistenceFailure>) -> Void
    ) {
        queue.async { [self] in
            // A cancelled read returns no value, even if it has ended. A committed save is reported as saved.
            if let job, job.isCancelled, job.plan.action == .read, case .success = result {
                return completion(.failure(PersistenceJob.cancelled))
            }
            completion(result)
        }
    }
}
