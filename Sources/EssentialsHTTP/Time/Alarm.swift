import EssentialsTools

/// A wait until a time that another task can end early, such as the pause between two polls.
///
/// ```swift
/// let alarm = Alarm(clock)
/// if try await alarm.wait(until: nextPoll) == .due { poll() }              // in one task
/// alarm.wake()                                                             // in another one
/// ```
///
/// One task at a time waits. Its waits can have different times, so a poll that becomes due earlier is woken and waits
/// again. It can be used from any thread.
package final class Alarm: Sendable {
    /// Why a wait has ended.
    package enum Ending: Sendable, Hashable {
        /// The time was reached.
        case due
        /// ``Alarm/wake()`` was called.
        case woken
    }

    private struct State {
        /// Whether the present or the next wait ends at once.
        var isWoken = false
        var sleep: Task<Void, any Error>?
    }

    private let clock: RequestClock
    private let state = Mutex(State())

    /// Creates an alarm on a clock.
    package init(_ clock: RequestClock) { self.clock = clock }

    /// Ends the present wait, or the next one if nobody waits. Further calls before the end of that wait have no effect.
    package func wake() {
        let sleep = state.withLock { state in
            state.isWoken = true
            return state.sleep
        }
        sleep?.cancel()
    }

    /// Waits until the clock's ``RequestClock/now`` reaches a time, or until ``wake()`` is called. A call of ``wake()``
    /// since the last wait ends it at once.
    ///
    /// - Throws: `CancellationError` if the task is or gets cancelled.
    package func wait(until time: Duration) async throws -> Ending {
        try Task.checkCancellation()
        let sleep = Task { [clock] in try await clock.sleep(until: time) }
        let isWoken = state.withLock { state in
            state.sleep = sleep
            return state.isWoken
        }
        if isWoken { sleep.cancel() }
        let result = await withTaskCancellationHandler {
            await sleep.result
        } onCancel: {
            sleep.cancel()
        }
        let wasWoken = state.withLock { state in
            state.sleep = nil
            defer { state.isWoken = false }
            return state.isWoken
        }
        try Task.checkCancellation()
        if wasWoken { return .woken }
        try result.get()
        return .due
    }
}
