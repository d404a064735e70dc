import EssentialsTools

/// Changes are delivered in the order of their versions, without the lock. The first thread that finds no delivery in
/// progress delivers for all. A change that an observer makes is delivered after the current one has reached all
/// observers.
extension ResourceCore {
    /// The maximum number of waiting changes. Beyond it only the newest one is kept, which counts the missed ones.
    static let maximumPending = 1_024

    /// Changes the contents under the lock, and delivers the events to the observers. Replaced values are released
    /// outside the lock.
    func changing<Result>(_ change: (inout Contents) -> Result) -> Result {
        let (result, delivers, polling, displaced) = contents.withLock { contents in
            let displaced = Displaced(contents)
            let result = change(&contents)
            writeFlags(contents.facts, isForwarded: contents.forward != nil)
            contents.polling?.note(contents.machine, contents.facts)
            let delivers = !contents.pending.isEmpty && !contents.isDelivering
            if delivers { contents.isDelivering = true }
            return (result, delivers, contents.polling, displaced)
        }
        // A change that is made while these values are released is delivered after this one.
        _ = consume displaced
        polling?.settle(self)
        if delivers { deliver() }
        return result
    }

    /// Delivers events that were added outside ``changing(_:)``.
    func deliverPending() { changing { _ in } }

    private func deliver() {
        while true {
            typealias Next = (PendingChange?, [@Sendable () -> Void], MovedObservers?)
            let (change, followers, moved) = contents.withLock { contents -> Next in
                guard let change = contents.pending.popFirst() else {
                    contents.isDelivering = false
                    return (nil, contents.takeFollowers(before: .max), contents.handOver())
                }
                return (change, contents.takeFollowers(before: change.version), nil)
            }
            for follower in followers { follower() }
            moved?.finish()
            guard let change else { return }
            if let target = change.target {
                let receiver = contents.withLock { $0.observers.receiver(target) }
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
            guard let batch = contents.withLock({ $0.observers.next(after: last, for: change) }) else { return }
            for member in batch.members {
                if flags.interruptions == interruptions {
                    member.receiver.receive(shown)
                } else if contents.withLock({ $0.observers.receiver(member.number) != nil }),
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
        let isLater = contents.withLock { contents in
            if contents.isDelivering { contents.followers.append((contents.facts.version, action)) }
            return contents.isDelivering
        }
        if !isLater { action() }
    }

    /// Writes the parts of the state that are read without the lock. It is called under the lock.
    func writeFlags(_ facts: ResourceFacts, isForwarded: Bool) {
        guard !isForwarded else { return flags.set(.isForwarded, freshUntil: nil) }
        var bits = ResourceFlags.Bits()
        if facts.loads > 0 { bits.insert(.isLoading) }
        if facts.isInvalid { bits.insert(.isInvalid) }
        if facts.entity != nil { bits.insert(.hasContent) }
        if facts.failure != nil { bits.insert(.hasFailure) }
        flags.set(bits, freshUntil: facts.freshUntil)
    }

    // MARK: Observers

    /// The number of observers.
    var observerCount: Int { contents.withLock { $0.observers.count } }

    /// Adds an observer. It first receives `attached` with the current state.
    ///
    /// - Parameters:
    ///   - receiver: The observer.
    ///   - refresh: How often the resource is loaded again for this observer.
    ///   - service: The service, whose configuration may also request regular loads; `nil` begins no regular loads.
    /// - Returns: The number with which it is removed.
    func add(
        _ receiver: any ChangeReceiver, refreshing refresh: ResourceRefresh? = nil,
        _ service: HTTPResourceService? = nil
    ) -> UInt64 {
        let known = service.map { ($0, $0.effective(for: self)) }
        let added = changing { contents -> (number: UInt64, runs: [LoadRun])? in
            guard contents.forward == nil else { return nil }
            let number = contents.addObserver(receiver)
            if let (service, configuration) = known {
                contents.observingService = service
                contents.noteObserver(number, refresh, configuration, service)
            } else {
                contents.polling?.note(.joined(nil, number: number))
            }
            contents.enqueue(.attached, target: number)
            return (number, contents.runs)
        }
        guard let added else { return current.add(receiver, refreshing: refresh, service) }
        // For the priority, an observer counts like a waiting task.
        for run in added.runs { raise(run, to: nil) }
        return added.number
    }

    /// Adds an observer like ``add(_:)``, but leaves the delivery to the next call of ``changing(_:)``. It can
    /// therefore be called under a lock.
    ///
    /// - Parameter prepare: It is called with the number under the lock of the resource, before any delivery.
    func addSilently(
        _ receiver: any ChangeReceiver, _ configuration: EffectiveConfiguration, _ service: HTTPResourceService,
        _ prepare: (UInt64) -> Void
    ) -> UInt64 {
        let number = contents.withLock { contents -> UInt64? in
            guard contents.forward == nil else { return nil }
            let number = contents.addObserver(receiver)
            contents.noteObserver(number, nil, configuration, service)
            prepare(number)
            contents.enqueue(.attached, target: number)
            return number
        }
        return number ?? current.addSilently(receiver, configuration, service, prepare)
    }

    /// Removes an observer, even if it has moved to a resource to which this one leads. When the last observer is
    /// removed, the loads that only observers need are cancelled.
    func remove(observer number: UInt64) {
        typealias Removed = ((any ChangeReceiver)?, [LoadRun], HTTPResourceService?, ForwardedResource?)
        let (receiver, ended, service, forward) = changing { contents -> Removed in
            guard let receiver = contents.observers.remove(number) else { return (nil, [], nil, contents.forward) }
            flags.interrupt()
            contents.polling?.note(.left(number: number))
            if receiver.reportsProgress { contents.showProgress() }
            if receiver.keepsService { contents.keepers -= 1 }
            let service = contents.keepers == 0 ? contents.observingService.take() : nil
            guard contents.observers.count == 0 else { return (receiver, [], service, nil) }
            let ended = contents.endLoads(contents.machine.cancelUnawaited(includingStarted: false))
            return (receiver, ended, service, nil)
        }
        // Every resource of the chain is visited, because each can still have observers.
        if let forward { return forward.next.remove(observer: number) }
        for run in ended { run.cancel() }
        // The last references may be released here, outside the lock.
        _ = (receiver, service)
    }

    /// Ends all observations, because the service was closed.
    func finishObservers() {
        let (receivers, service) = contents.withLock { contents in
            flags.interrupt()
            contents.keepers = 0
            return (contents.observers.removeAll(), contents.observingService.take())
        }
        // The last reference may be released here, outside the lock.
        _ = service
        for receiver in receivers { receiver.finish() }
    }
}

extension ResourceCore.Contents {
    /// The service that loads the resource again after a change of the environment or the account; `nil` without
    /// observers, or if observer objects have outlived the service.
    var reloadingService: HTTPResourceService? { observingService ?? observers.livingService }

    /// Removes and returns the actions that precede the delivery of a change with this version.
    fileprivate mutating func takeFollowers(before version: UInt64) -> [@Sendable () -> Void] {
        guard !followers.isEmpty else { return [] }
        let due = followers.filter { $0.version < version }.map(\.action)
        followers.removeAll { $0.version < version }
        return due
    }

    /// Adds an event for the observers, if there are any. Newer progress replaces progress that waits, which does not
    /// count as missed.
    mutating func enqueue(_ event: ResourceEvent, target: UInt64? = nil) {
        guard observers.count > 0 else { return }
        var change = PendingChange(event: event, views: views, version: facts.version, target: target)
        if change.isProgress {
            guard observers.reportsProgress else { return }
            if let last = pending.last, last.isProgress { return pending[pending.count - 1] = change }
            if pending.count >= ResourceCore.maximumPending { return }
        }
        if pending.count >= ResourceCore.maximumPending, target == nil, let last = pending.last, last.target == nil {
            change.missed = last.isProgress ? last.missed : last.missed + 1
            pending[pending.count - 1] = change
        } else {
            pending.append(change)
        }
    }

    /// Removes loads that the machine has already ended.
    ///
    /// - Returns: The loads, which must be cancelled without the lock.
    mutating func endLoads(_ numbers: [UInt64]) -> [LoadRun] {
        guard !numbers.isEmpty else { return [] }
        let ended = runs.filter { numbers.contains($0.number) }
        removeRuns { numbers.contains($0.number) }
        changeFacts(.cancelled) { _ in }
        return ended
    }
}
