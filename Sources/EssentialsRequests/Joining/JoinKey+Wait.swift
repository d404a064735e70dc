import EssentialsTools

/// The wait of a request for the verdict on its group.
///
/// It is not a `OneShot`, because releasing an object of a generic type costs more than the rest of a wait.
extension JoinKey {
    enum Wait {
        case ahead
        case running(CheckedContinuation<JoinedExchanges.Verdict, Never>)
        case over(JoinedExchanges.Verdict)
    }

    /// The verdict; `nil` if the wait has not ended.
    var verdict: JoinedExchanges.Verdict? {
        wait.withLock { state in
            if case .over(let verdict) = state { verdict } else { nil }
        }
    }

    /// Ends the wait. It is called once.
    func end(_ verdict: JoinedExchanges.Verdict) {
        let continuation = wait.withLock { state -> CheckedContinuation<JoinedExchanges.Verdict, Never>? in
            defer { state = .over(verdict) }
            return if case .running(let continuation) = state { continuation } else { nil }
        }
        continuation?.resume(returning: verdict)
    }

    /// Waits for the verdict. A cancellation of the task ends the wait only by ``end(_:)``.
    func ended() async -> JoinedExchanges.Verdict {
        let verdict = await withCheckedContinuation { continuation in
            let verdict = wait.withLock { state -> JoinedExchanges.Verdict? in
                if case .over(let verdict) = state { return verdict }
                state = .running(continuation)
                return nil
            }
            if let verdict { continuation.resume(returning: verdict) }
        }
        // Resuming orders the two threads already. If it comes before the task has suspended, the thread sanitizer sees only
        // the order of the lock.
        return self.verdict ?? verdict
    }
}
