/// Does some work in a task of its own, and waits for it until a time limit is reached or the calling task is cancelled. The
/// work is then cancelled, and not waited for.
///
/// - Parameter limit: Returns when the limit is reached. It is cancelled when the work has ended.
package func limited(
    by limit: @escaping @Sendable () async -> Void, _ work: @escaping @Sendable () async -> Void
) async {
    let end = OneShot<Void>()
    let task = Task {
        await work()
        end.provide(())
    }
    await end.valueUnlessCancelled(before: limit)
    task.cancel()
}
