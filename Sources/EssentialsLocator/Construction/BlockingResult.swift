import EssentialsTools

/// A value that one thread delivers once and any number of threads and tasks wait for.
///
/// ``wait()`` blocks the thread, and ``delivered()`` suspends the task. A POSIX condition is used because
/// `Synchronization` has no condition variable.
///
/// `@unchecked Sendable`: Both pointers are constants. Their memory is initialized before the object can be shared and
/// destroyed in `deinit`, when nothing waits.
final class BlockingResult<Value: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private let result = OneShot<Value>()

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        // Neither call can fail on Linux with default attributes.
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deinitialize(count: 1)
        condition.deallocate()
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    /// Delivers the value to everything that waits now or later. Only the first delivery counts.
    func deliver(_ value: Value) {
        guard result.provide(value) else { return }
        // A thread that has found no value is asleep when the mutex is free.
        pthread_mutex_lock(mutex)
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Suspends the calling task until the value is delivered.
    func delivered() async -> Value { await result.value() }

    /// Blocks the calling thread until the value is delivered.
    func wait() -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let value = result.current { return value }
            pthread_cond_wait(condition, mutex)
        }
    }
}

/// The identity of the calling thread, unique among the running threads.
func currentThreadIdentity() -> UInt {
    #if canImport(Glibc)
        UInt(pthread_self())
    #else
        UInt(bitPattern: pthread_self())
    #endif
}
