import EssentialsTools

/// The delivery of a resource's changes to its observers.
extension ResourceCore {
    /// Delivers events that were added outside ``changing(_:)``.
    func deliverPending() { changing { _ in } }

    /// Delivers the waiting changes in the order of their versions, without the lock. The first thread that finds no
    /// delivery in progress delivers for all. A change that an observer makes is delivered after the current one has
    /// reached all observers.
    func deliver() {
        while true {
            typealias Next = (PendingChange?, [@Sendable () -> Void], MovedObservers?)
            let (change, followers, moved) = reading { state -> Next in
                guard let change = state.pending.popFirst() else {
                    state.isDelivering = false
                    return (nil, state.takeFollowers(before: .max), Self.handOver(&state))
                }
                return (change, state.takeFollowers(before: change.version), nil)
            }
            for follower in followers { follower() }
            moved?.finish()
            guard let change else { return }
            if let target = change.target {
                let receiver = reading { $0.observers.receiver(target) }
                if let receiver, let change = change.shown(since: flags.firstVersion) { receiver.receive(change) }
            } else {
                deliver(change)
            }
        }
    }

    /// Delivers a change to all observers. Right before each call it is decided whether the observer may still receive
    /// it, because earlier calls can take long, remove observers and leave the account.
    private func deliver(_ change: PendingChange) {
        var last: UInt64 = 0
        while let shown = change.shown(since: flags.firstVersion) {
            let interruptions = flags.interruptions
            guard let batch = reading({ $0.observers.next(after: last, for: change) }) else { return }
            for member in batch.members {
                if flags.interruptions == interruptions {
                    member.receiver.receive(shown)
                } else if reading({ $0.observers.receiver(member.number) != nil }),
                    let shown = change.shown(since: flags.firstVersion)
                {
                    member.receiver.receive(shown)
                }
            }
            last = batch.last
        }
    }

    /// Calls a closure after all changes up to now have reached the observers. This is at once, unless another thread
    /// is delivering changes.
    func afterDelivery(_ action: @escaping @Sendable () -> Void) {
        let isLater = reading { state in
            if state.isDelivering { state.followers.append((state.facts.version, action)) }
            return state.isDelivering
        }
        if !isLater { action() }
    }
}
