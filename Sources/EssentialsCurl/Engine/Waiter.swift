#if DEBUG
    /// Who waits for the engine.
    typealias Waiter<Value> = CheckedContinuation<Value, Never>
#else
    /// Who waits for the engine, resumed once, by whoever has taken it out of where it is kept: under a lock, or on the
    /// engine's thread.
    ///
    /// The checked one is an allocation more for each request, and keeps its layout to itself: what holds one can only be
    /// laid out and copied by way of tables that the runtime makes.
    typealias Waiter<Value> = UnsafeContinuation<Value, Never>
#endif

/// Waits until somebody resumes the waiter that `body` has put in its place. Checked in debug builds.
@inline(__always)
func withWaiter<Value>(_ body: (Waiter<Value>) -> Void) async -> sending Value {
    #if DEBUG
        await withCheckedContinuation(body)
    #else
        await withUnsafeContinuation(body)
    #endif
}
