/// Resumes the tasks whose requests have ended in one turn of the engine's thread.
///
/// Tasks are resumed after the whole turn's work, because a resumed task competes for the processor.
struct ResumePolicy {
    /// From this number on, tasks of the common pool are resumed together by one task of the pool. Tasks with their own
    /// executors, such as the main actor's, are always resumed by the engine's thread: they must not wait for the pool.
    ///
    /// Each task that the engine's thread resumes wakes a thread of the pool, which sleeps again before the next task
    /// arrives. Resuming them together serves 5 % more requests a second on two cores, and 14 % more on one.
    static let together = 4

    private var ended: [Exchange] = []
    /// The waiters of one turn. The array is kept between turns, so that resuming a single task allocates nothing.
    private var waiters: [Waiter<Void>] = []

    /// Notes an exchange whose outcome is set.
    mutating func add(_ exchange: Exchange) { ended.append(exchange) }

    /// Resumes the tasks of all exchanges that were added.
    mutating func resumeAll() {
        guard !ended.isEmpty else { return }
        for exchange in ended {
            guard let waiter = exchange.continuation.take() else { continue }
            if exchange.isAwaitedInPool { waiters.append(waiter) } else { waiter.resume() }
        }
        // The exchanges are released first, so that their memory is freed by the thread that allocated it.
        ended.removeAll(keepingCapacity: true)
        guard waiters.count >= Self.together else {
            for waiter in waiters { waiter.resume() }
            waiters.removeAll(keepingCapacity: true)
            return
        }
        Task.detached { [waiters] in
            for waiter in waiters { waiter.resume() }
        }
        waiters = []
    }
}

#if DEBUG
    /// The continuation of a task that waits for the engine.
    typealias Waiter<Value> = CheckedContinuation<Value, Never>
#else
    /// The continuation of a task that waits for the engine. A checked one would cost an allocation for each request.
    typealias Waiter<Value> = UnsafeContinuation<Value, Never>
#endif

/// Suspends the task until the waiter that `body` has stored is resumed. The waiter is checked in debug builds.
func withWaiter<Value>(_ body: (Waiter<Value>) -> Void) async -> sending Value {
    #if DEBUG
        await withCheckedContinuation(body)
    #else
        await withUnsafeContinuation(body)
    #endif
}
