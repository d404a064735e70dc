import EssentialsTools

/// The waits among threads that build services. Decides whether a thread waits, or whether that wait would never end.
///
/// Only threads that find a slot under construction use the ledger. All locators of a process share one, because a
/// cycle may lead through several of them.
///
/// Each service that a thread builds depends on the services that it builds inside, and the innermost one depends on
/// the service that the thread waits for. A cycle of waiting threads is therefore always a cycle of services, and could
/// never finish.
///
/// `@unchecked Sendable`: the frames are read only under the lock of ``shared``, and belong to waiting threads. Such a
/// thread continues after the builder has removed it from the ledger under the same lock.
struct ConstructionLedger: @unchecked Sendable {
    /// How an attempt ended.
    enum Outcome: Sendable {
        case built
        case failed(ServiceLocatorError)
    }

    /// The decision for a thread that found a slot under construction.
    enum Step: Sendable {
        case wait(BlockingResult<Outcome>)
        /// The wait would never end. The path begins and ends with the same registration.
        case cycle(path: [String])
        /// The attempt has ended meanwhile.
        case over
    }

    private struct Wait {
        let slot: Slot
        /// The factories that the waiting thread runs, innermost first.
        let frames: UnsafePointer<BuildFrame>?
    }

    /// The ledger of this process. The lock is never held while a factory runs or a thread waits.
    static let shared = Mutex(ConstructionLedger())

    private var waits: [UInt: Wait] = [:]
    private var results: [ObjectIdentifier: BlockingResult<Outcome>] = [:]

    /// Decides for a thread that found `slot` under construction.
    mutating func join(
        _ slot: Slot, owner: ServiceLocator, thread: UInt, frames: UnsafePointer<BuildFrame>?
    ) -> Step {
        // The builder of a contended slot ends its attempt under this lock, so not before the wait is recorded.
        guard slot.contend() else { return .over }
        if let path = loop(from: slot, owner: owner, backTo: thread, frames: frames) { return .cycle(path: path) }
        waits[thread] = Wait(slot: slot, frames: frames)
        return .wait(result(of: slot))
    }

    /// The result of an attempt, for a caller that is not a thread that builds, or `nil` if the attempt has ended.
    mutating func watch(_ slot: Slot) -> BlockingResult<Outcome>? {
        slot.contend() ? result(of: slot) : nil
    }

    /// Removes the waits for an attempt that has ended. The caller delivers the result after unlocking.
    mutating func finish(_ slot: Slot) -> BlockingResult<Outcome>? {
        for (thread, wait) in waits where wait.slot === slot { waits[thread] = nil }
        return results.removeValue(forKey: ObjectIdentifier(slot))
    }

    /// Whether nothing waits.
    var isEmpty: Bool { waits.isEmpty && results.isEmpty }

    private mutating func result(of slot: Slot) -> BlockingResult<Outcome> {
        if let known = results[ObjectIdentifier(slot)] { return known }
        let new = BlockingResult<Outcome>()
        results[ObjectIdentifier(slot)] = new
        return new
    }

    /// The path of services from `wanted` through the threads that build them and the services those wait for, if it
    /// leads back to `thread`.
    ///
    /// A thread that has not stored itself in ``Slot/builder`` yet does not wait either. The search ends, because a
    /// cycle among other threads was refused.
    private func loop(
        from wanted: Slot, owner: ServiceLocator, backTo thread: UInt, frames: UnsafePointer<BuildFrame>?
    ) -> [String]? {
        var path: [String] = []
        var slot = wanted
        while true {
            let builder = slot.builder.load(ordering: .relaxed)
            if builder == thread {
                path += BuildFrame.labels(from: slot, to: frames) ?? [slot.label]
                return path + [wanted.label(in: owner)]
            }
            guard let wait = waits[builder] else { return nil }
            path += BuildFrame.labels(from: slot, to: wait.frames) ?? [slot.label]
            slot = wait.slot
        }
    }
}
