import Synchronization

/// Who builds what, and who waits for whom: the decision whether a thread builds, waits, or would wait for itself.
///
/// A value without a lock. All locators of a process share one ledger, because a cycle may lead through several of
/// them. Only first resolves of lazy registrations come here.
///
/// Every element of a thread's stack depends on all that is above it, and the top depends on what the thread waits
/// for. So a loop of waiting threads is always a loop of services, and refusing it refuses nothing that could finish.
struct ConstructionLedger: Sendable {
    /// What the asking thread has to do.
    enum Step: Sendable {
        /// Run the factory, then report to ``finish(_:)``.
        case build(ConstructionAttempt)
        /// Wait for the attempt's result, then report to ``stopWaiting(thread:)``.
        case wait(ConstructionAttempt)
        /// Waiting would never end. The path begins and ends with the same registration.
        case cycle(path: [String])
    }

    /// The ledger of this process. Never held while a factory runs or a thread waits.
    static let shared = Mutex(ConstructionLedger())

    /// Running attempts by slot. An attempt that is not in here has ended.
    private var attempts: [ObjectIdentifier: ConstructionAttempt] = [:]
    /// What each thread builds, outermost first.
    private var stacks: [UInt: [ConstructionAttempt]] = [:]
    /// What each blocked thread waits for. May name attempts that have ended, until their waiters have woken.
    private var waits: [UInt: ConstructionAttempt] = [:]

    /// Decides for a thread that found `slot` unbuilt.
    mutating func enter(slot: ObjectIdentifier, label: String, thread: UInt) -> Step {
        guard let running = attempts[slot] else {
            let attempt = ConstructionAttempt(slot: slot, builder: thread, label: label)
            attempts[slot] = attempt
            stacks[thread, default: []].append(attempt)
            return .build(attempt)
        }
        if let path = loop(from: running, backTo: thread) {
            return .cycle(path: path)
        }
        waits[thread] = running
        return .wait(running)
    }

    /// The attempt has ended, well or not; the slot may be entered anew.
    mutating func finish(_ attempt: ConstructionAttempt) {
        attempts[attempt.slot] = nil
        stacks[attempt.builder]?.removeAll { $0 === attempt }
        if stacks[attempt.builder]?.isEmpty == true {
            stacks[attempt.builder] = nil
        }
    }

    /// The thread has woken.
    mutating func stopWaiting(thread: UInt) {
        waits[thread] = nil
    }

    /// True when nobody builds and nobody waits.
    var isEmpty: Bool { attempts.isEmpty && stacks.isEmpty && waits.isEmpty }

    /// The path of services from `wanted` through builders and what they wait for, if it leads back to `thread`.
    ///
    /// Ends, because a loop among other threads was refused before it could close.
    private func loop(from wanted: ConstructionAttempt, backTo thread: UInt) -> [String]? {
        var path: [String] = []
        var current = wanted
        while true {
            let stack = stacks[current.builder] ?? []
            path += stack.drop { $0 !== current }.map(\.label)
            if current.builder == thread {
                return path + [wanted.label]
            }
            guard let next = waits[current.builder], attempts[next.slot] === next else { return nil }
            current = next
        }
    }
}
