#if ESSENTIALS_THREAD_SANITIZER
    /// A mutex that the thread sanitizer understands. It replaces `Synchronization.Mutex` in sanitized builds only.
    ///
    /// The standard library's mutex uses a futex in code that is not instrumented. The sanitizer therefore sees neither
    /// the ordering nor the protection of the value, and reports every access. It understands pthread's mutex. In a
    /// file that imports this module and not `Synchronization`, the type hides the exported type of the same name.
    package struct Mutex<Value>: ~Copyable, @unchecked Sendable {
        // `@unchecked Sendable`: the value is accessed only between lock and unlock. Both pointers are constants, and
        // their memory is freed by the one struct that owns them.
        private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)
        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

        package init(_ initial: consuming sending Value) {
            value.initialize(to: initial)
            pthread_mutex_init(mutex, nil)
        }

        deinit {
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
            value.deinitialize(count: 1)
            value.deallocate()
        }

        package borrowing func withLock<Result, Failure: Error>(
            _ body: (inout Value) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }
    }
#endif
