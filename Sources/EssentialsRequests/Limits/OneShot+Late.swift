package import EssentialsHTTP
package import EssentialsTools

extension OneShot {
    /// The value. Another one is provided if there is none after a time.
    ///
    /// The wait does not end when the task is cancelled.
    package func value(within time: Duration, _ clock: RequestClock, otherwise late: Value) async -> Value {
        if let current { return current }
        let timer = Task {
            guard (try? await clock.sleep(for: time)) != nil else { return }
            provide(late)
        }
        defer { timer.cancel() }
        return await value()
    }
}
