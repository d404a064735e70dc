import CEssentials
import Glibc
import Synchronization

/// The time that an engine's thread leaves to tasks that it has resumed together, where there is one processor for both.
///
/// Else the first request that one of them makes, or the first answer to it, wakes that thread, and it takes the
/// processor from the tasks that were still to run. It sleeps and does not yield: where the processor has other work
/// besides, a thread that yields gets it back only when that work's time slice is over.
///
/// A turn is over when a task has run that was queued behind the others. Tasks of another priority than the default have
/// queues of their own, and actors theirs: for those it can be over too early, which costs no more than to have none.
final class TasksTurn: Sendable {
    /// Asked once, of the process's first thread, as Swift's own executor does. A quota of time is no matter here.
    static let isNeeded = ce_processor_count() == 1

    /// The longest sleep, in milliseconds: half for the end of an earlier turn that comes late, and half for this one's.
    static let time: Int32 = 2

    private let wakeup: Int32
    /// Of how many turns the end was not seen yet. Only the engine's thread touches it.
    private let pending = Atomic<Int>(0)
    /// How often the thread has waited until all of them were over, and not until its time was.
    let completed = Atomic<Int>(0)

    /// Nil where the system gives no eventfd.
    init?() {
        wakeup = ce_wakeup_create()
        if wakeup < 0 { return nil }
    }

    // Whoever ends a turn refers to it, so nobody can write to the descriptor any more.
    deinit { if wakeup >= 0 { close(wakeup) } }

    /// Counts a turn, whose end somebody will tell. Engine thread.
    func begin() { pending.wrappingAdd(1, ordering: .relaxed) }

    /// Tells the thread that a turn is over. Any thread.
    func end() { ce_wakeup_signal(wakeup) }

    /// Sleeps until all turns are over, or the time is. Engine thread.
    func wait() {
        for _ in 0..<2 {
            let ended = Int(ce_wakeup_await(wakeup, Self.time / 2))
            if ended == 0 { return }
            if pending.wrappingSubtract(ended, ordering: .relaxed).newValue == 0 {
                completed.wrappingAdd(1, ordering: .relaxed)
                return
            }
        }
    }
}
