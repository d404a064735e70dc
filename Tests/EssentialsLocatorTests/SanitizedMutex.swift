#if ESSENTIALS_THREAD_SANITIZER
    import Glibc

    /// A mutex that the thread sanitizer sees, in place of `Synchronization.Mutex` in sanitized builds only.
    ///
    /// The standard library's mutex works on a futex inside code that is not instrumented: the sanitizer sees neither
    /// its order nor that the value is guarded, and reports every use. With pthread's, which it knows, its reports are
    /// real. Declared in each module (the other files are links to this one), it hides the imported type of the same
    /// name.
    struct Mutex<Value>: ~Copyable, @unchecked Sendable {
        // Argument for @unchecked: the value is touched only between lock and unlock; both pointers are constant, and
        // their memory goes with the one struct that owns them.
        private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)
        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

        init(_ initial: consuming sending Value) {
            value.initialize(to: initial)
            pthread_mutex_init(mutex, nil)
        }

        deinit {
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
            value.deinitialize(count: 1)
            value.deallocate()
        }

        borrowing func withLock<Result, Failure: Error>(
            _ body: (inout Value) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }
    }
#endif
