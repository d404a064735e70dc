import Dispatch
import EssentialsTools

/// Reads the batches of one state. Its job stays inside its read and waits there for each request for a batch.
///
/// The job ends when the reader is released.
final class BatchReader<Model: PersistentModel>: Sendable {
    private let exchange: BatchExchange<[Model]>
    private let job: PersistenceJob

    /// Begins the read.
    ///
    /// - Throws: A failure with the reason `invalidQuery`.
    init(
        _ service: any PersistenceService, _ query: Query<Model>, _ size: Int, _ state: BatchState
    ) throws(PersistenceFailure) {
        let first = try QueryPages(query, size: size)
        let exchange = BatchExchange<[Model]>(limit: state.limit ?? .zero)
        var call = PersistenceCall<Void>.reading(query.node) { work in
            var pages = first
            try exchange.serve { () throws(PersistenceFailure) in
                let models = try work.models(of: &pages, Model.self)
                return models?.isEmpty == false ? models : nil
            }
        }
        call.plan.holdsState = true
        self.exchange = exchange
        job = call.job { exchange.end($0) }
        service.run(job)
    }

    deinit { stop() }

    /// The next batch; `nil` after the last one.
    nonisolated(nonsending) func next() async throws(PersistenceFailure) -> [Model]? {
        let batch = await withTaskCancellationHandler {
            await exchange.next()
        } onCancel: {
            stop()
        }
        guard !Task.isCancelled else { throw PersistenceJob.cancelled }
        return try batch.get()
    }

    private func stop() {
        job.cancel()
        exchange.close()
    }
}

/// Passes values one at a time from a producing thread to a task that requests them.
final class BatchExchange<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value?, PersistenceFailure>

    private struct State {
        var waiting: OneShot<Outcome>?
        var end: Outcome?
        var isClosed = false
    }

    private let state = Mutex(State())
    private let demand = DispatchSemaphore(value: 0)
    private let deadline: DispatchTime

    /// - Parameter limit: The time during which values can be requested.
    init(limit: Duration) {
        // A read of a day is as good as unlimited.
        deadline = .now() + .nanoseconds(Int(min(max(limit, .zero), .seconds(86_400)).wholeNanoseconds))
    }

    // MARK: The task

    /// The next value; `nil` after the last one.
    nonisolated(nonsending) func next() async -> Outcome {
        let asked = OneShot<Outcome>()
        let outcome = state.withLock { state -> Outcome? in
            if let end = state.end { return end }
            guard state.waiting == nil else {
                return .failure(PersistenceFailure(.invalidQuery, "Two tasks ask for the next batch at once."))
            }
            state.waiting = asked
            return nil
        }
        if let outcome { return outcome }
        demand.signal()
        return await asked.value()
    }

    /// Stops the thread without requesting another value.
    func close() {
        state.withLock { $0.isClosed = true }
        demand.signal()
    }

    // MARK: The thread

    /// Makes a value for each request, until there are no more values or the exchange is closed. It blocks.
    ///
    /// - Throws: The failure of the closure, or a failure with the reason `expired` after the time limit.
    func serve(_ make: () throws(PersistenceFailure) -> Value?) throws(PersistenceFailure) {
        while true {
            let isAsked = demand.wait(timeout: deadline) == .success
            if state.withLock({ $0.isClosed }) { return }
            guard isAsked, .now() < deadline else {
                throw PersistenceFailure(.expired, "One state of the rows was read for too long.")
            }
            guard let value = try make() else { return }
            resume(.success(value))
        }
    }

    /// Ends the exchange with the result of the thread.
    func end(_ result: Result<Void, PersistenceFailure>) {
        let outcome: Outcome = result.map { nil }
        state.withLock { $0.end = outcome }
        resume(outcome)
    }

    private func resume(_ outcome: Outcome) {
        state.withLock { $0.waiting.take() }?.provide(outcome)
    }
}
