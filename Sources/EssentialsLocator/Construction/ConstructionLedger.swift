import Synchronization

/// Who waits for whom to build: the decision whether a thread waits, or would wait for itself.
///
/// Only threads that find a slot under construction come here; building without contention does not. All locators of a
/// process share one ledger, because a cycle may lead through several of them.
///
/// Everything that a thread builds depends on what it builds further in, and the innermost on what the thread waits for.
/// So a loop of waiting threads is always a loop of services, and refusing it refuses nothing that could finish.
///
/// `@unchecked Sendable` for the frames: they are read under the lock of ``shared`` only, and belong to threads that wait.
/// Such a thread leaves its wait after the builder has removed it from here, under the same lock.
struct ConstructionLedger: @unchecked Sendable {
    /// How an attempt ended.
    enum Outcome: Sendable {
        case built
        case failed(ServiceLocatorError)
    }

    /// What a thread has to do that found a slot under construction.
    enum Step: Sendable {
        case wait(BlockingResult<Outcome>)
        /// Waiting would never end. The path begins and ends with the same registration.
        case cycle(path: [String])
        /// The attempt has ended meanwhile.
        case over
    }

    private struct Wait {
        let slot: Slot
        /// What the waiting thread builds, innermost first.
        let frames: UnsafePointer<BuildFrame>?
    }

    /// The ledger of this process. Never held while a factory runs or a thread waits.
    static let shared = Mutex(ConstructionLedger())

    private var waits: [UInt: Wait] = [:]
    private var results: [ObjectIdentifier: BlockingResult<Outcome>] = [:]

    /// Decides for a thread that found `slot` under construction.
    mutating func join(
        _ slot: Slot, owner: ServiceLocator, thread: UInt, frames: UnsafePointer<BuildFrame>?
    ) -> Step {
        // The builder of a contended slot ends its attempt under this lock, so it cannot end before the wait is noted.
        guard slot.contend() else { return .over }
        if let path = loop(from: slot, owner: owner, backTo: thread, frames: frames) { return .cycle(path: path) }
        waits[thread] = Wait(slot: slot, frames: frames)
        return .wait(result(of: slot))
    }

    /// What to be told of an attempt's end by, for somebody who is not a thread that builds; nil when it has ended.
    mutating func watch(_ slot: Slot) -> BlockingResult<Outcome>? {
        slot.contend() ? result(of: slot) : nil
    }

    /// The attempt has ended, and `slot` says so: forgets those who wait. The caller delivers after unlocking.
    mutating func finish(_ slot: Slot) -> BlockingResult<Outcome>? {
        for (thread, wait) in waits where wait.slot === slot { waits[thread] = nil }
        return results.removeValue(forKey: ObjectIdentifier(slot))
    }

    /// True when nobody waits.
    var isEmpty: Bool { waits.isEmpty && results.isEmpty }

    private mutating func result(of slot: Slot) -> BlockingResult<Outcome> {
        if let known = results[ObjectIdentifier(slot)] { return known }
        let new = BlockingResult<Outcome>()
        results[ObjectIdentifier(slot)] = new
        return new
    }

    /// The path of services from `wanted` through builders and what they wait for, if it leads back to `thread`.
    ///
    /// A builder that has not written its name yet does not wait either. Ends, because a loop among other threads was
    /// refused before it could close.
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
