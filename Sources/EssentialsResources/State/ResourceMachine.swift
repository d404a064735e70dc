/// The order of everything that changes a resource, as a pure value.
///
/// Loads, overrides, invalidations and wipes each take the next number. A response counts only if nothing with a
/// greater number has changed the content, so the response to an older request never replaces the response to a newer
/// one. An invalidation stays until a load that began after it has ended with a response or a failure.
///
/// The machine has no clock, lock, task or content. Its caller passes times to it and acts on the returned values.
struct ResourceMachine: Sendable {
    /// A running load.
    struct Load: Sendable, Equatable {
        let number: UInt64
        /// The tasks that wait for the load.
        var waiting: Int
        /// The requests that were started by hand and not cancelled.
        var handles: Int
        /// Whether the load ends without a request if fresh content is found before the request is sent. If the load is
        /// not joinable, any content is enough.
        var endsWithFreshContent = false
        /// Whether other tasks may wait for the load: it may contact the server, and its outcome is not only for its
        /// caller.
        var isJoinable = true

        /// Whether the load runs to its end even if no task waits, because it was started by hand.
        var isStarted: Bool { handles > 0 }
    }

    /// The effect of an outcome on the resource.
    enum Verdict: Sendable, Equatable {
        /// The outcome becomes the resource's state.
        case commits
        /// Something newer has changed the state, so only the waiting tasks receive the outcome.
        case superseded
        /// The load was cancelled or wiped earlier.
        case unknown
    }

    /// The greatest number that was given out.
    private(set) var last: UInt64 = 0
    /// The number of the last response, failure, override or wipe.
    private(set) var committed: UInt64 = 0
    /// The number of the last invalidation that is still in effect; zero if there is none.
    private(set) var invalidated: UInt64 = 0
    /// The response cache's number for the newest response that has counted; zero without a cache.
    private(set) var response: UInt64 = 0
    /// The running loads, in the order of their start.
    private(set) var loads: [Load] = []
    /// The writes that have begun and not ended, in the order of their beginning.
    var writes: [Write] = []

    /// Whether an invalidation is in effect.
    var isInvalid: Bool { invalidated != 0 }

    // MARK: Loads

    /// Begins a load.
    ///
    /// - Parameters:
    ///   - waiting: The number of tasks that wait for it.
    ///   - isStarted: Whether it runs to its end even if no task waits.
    ///   - endsWithFreshContent: Whether it ends without a request if fresh content is found in a cache.
    ///   - isJoinable: Whether other tasks may wait for it.
    /// - Returns: The number of the load.
    mutating func beginLoad(
        waiting: Int, isStarted: Bool, endsWithFreshContent: Bool = false, isJoinable: Bool = true
    ) -> UInt64 {
        last += 1
        loads.append(
            Load(
                number: last, waiting: waiting, handles: isStarted ? 1 : 0,
                endsWithFreshContent: endsWithFreshContent, isJoinable: isJoinable))
        return last
    }

    /// Records that the request of a load is sent.
    ///
    /// - Returns: Whether the load is still running.
    mutating func request(_ number: UInt64) -> Bool {
        guard let index = index(of: number) else { return false }
        loads[index].endsWithFreshContent = false
        return true
    }

    /// Ends the loads for which content from a cache is enough. It is no newer than the previous content, so the order
    /// stays.
    ///
    /// - Parameter isFresh: Whether the content is fresh.
    /// - Returns: The numbers of the ended loads.
    mutating func endWithContent(isFresh: Bool) -> [UInt64] {
        let ended = loads.filter { $0.endsWithFreshContent && (isFresh || !$0.isJoinable) }.map(\.number)
        loads.removeAll { ended.contains($0.number) }
        return ended
    }

    /// The newest load that other tasks may join. Its response would count, and it began after the last invalidation;
    /// `nil` without one. A caller that needs current content waits for it instead of sending another request.
    var joinable: UInt64? {
        let newest = loads.last(where: \.isJoinable)?.number ?? 0
        return newest > committed && newest > invalidated ? newest : nil
    }

    /// Whether a joinable load is running, which may contact the server.
    var asksServer: Bool { loads.contains(where: \.isJoinable) }

    /// Adds a task that waits for a load.
    mutating func join(_ number: UInt64) {
        guard let index = index(of: number) else { return }
        loads[index].waiting += 1
    }

    /// Keeps a load running to its end even if no task waits, because it was also started by hand.
    mutating func keep(_ number: UInt64) {
        guard let index = index(of: number) else { return }
        loads[index].handles += 1
    }

    /// Records that a request by hand was cancelled. Observers do not keep a load running that was started by hand.
    ///
    /// - Returns: Whether no task and no other request by hand needs the load any more. The load is then removed from
    ///   the machine.
    mutating func release(_ number: UInt64) -> Bool {
        guard let index = index(of: number) else { return false }
        loads[index].handles -= 1
        guard loads[index].waiting <= 0, !loads[index].isStarted else { return false }
        loads.remove(at: index)
        return true
    }

    /// Removes a task that waited for a load.
    ///
    /// - Parameter isObserved: Whether the resource has observers, which keep its loads running.
    /// - Returns: Whether the load is not needed any more. It is then removed from the machine.
    mutating func leave(_ number: UInt64, isObserved: Bool) -> Bool {
        guard let index = index(of: number) else { return false }
        loads[index].waiting -= 1
        guard loads[index].waiting <= 0, !loads[index].isStarted, !isObserved else { return false }
        loads.remove(at: index)
        return true
    }

    /// Ends a load with a response or a failure.
    ///
    /// - Parameter response: The response cache's number for the response; zero without one. A stored response may be
    ///   older than the shown content, even if its load is newer.
    mutating func end(_ number: UInt64, response: UInt64 = 0) -> Verdict {
        guard let index = index(of: number) else { return .unknown }
        loads.remove(at: index)
        guard number > committed, response == 0 || response >= self.response else { return .superseded }
        committed = number
        if response != 0 { self.response = response }
        if number > invalidated { invalidated = 0 }
        return .commits
    }

    /// Ends a load for which no stored response was found. It did not contact the server, so an invalidation stays, and
    /// responses to loads that began earlier still count.
    mutating func miss(_ number: UInt64) -> Verdict {
        guard let index = index(of: number) else { return .unknown }
        loads.remove(at: index)
        return number > committed ? .commits : .superseded
    }

    /// Records the response with which the response cache replaces the one that a load has shown. It counts if nothing
    /// else has changed the content since. An invalidation stays, because it is unknown which of the two began first.
    ///
    /// - Parameters:
    ///   - number: The number of the load.
    ///   - response: The cache's number for the new response.
    mutating func update(since number: UInt64, response: UInt64) -> Verdict {
        guard number == committed, response > self.response else { return .superseded }
        self.response = response
        return .commits
    }

    /// Ends a load that was cancelled. The content, the failure and an invalidation stay.
    ///
    /// - Returns: Whether the load was running.
    mutating func cancel(_ number: UInt64) -> Bool {
        guard let index = index(of: number) else { return false }
        loads.remove(at: index)
        return true
    }

    /// Ends the loads for which no task waits.
    ///
    /// - Parameter includingStarted: Whether this includes loads that were started by hand.
    /// - Returns: The numbers of the ended loads.
    mutating func cancelUnawaited(includingStarted: Bool) -> [UInt64] {
        let ended = loads.filter { $0.waiting <= 0 && (includingStarted || !$0.isStarted) }.map(\.number)
        loads.removeAll { ended.contains($0.number) }
        return ended
    }

    /// Ends all loads.
    ///
    /// - Returns: The numbers of the ended loads.
    mutating func cancelAll() -> [UInt64] {
        defer { loads = [] }
        return loads.map(\.number)
    }

    // MARK: Changes without a request

    /// Sets the content without a request. Responses to running loads are superseded.
    mutating func override() {
        last += 1
        committed = last
        invalidated = 0
    }

    /// Marks the content as outdated.
    mutating func invalidate() {
        last += 1
        invalidated = last
    }

    /// Removes the content and ends all loads. Writes continue, but their outcomes no longer change the state.
    ///
    /// - Returns: The numbers of the ended loads.
    mutating func wipe() -> [UInt64] {
        detachWrites()
        return wipeContent()
    }

    /// Removes the content and ends all loads.
    ///
    /// - Returns: The numbers of the ended loads.
    mutating func wipeContent() -> [UInt64] {
        override()
        response = 0
        return cancelAll()
    }

    // MARK: Numbers

    /// Skips the numbers up to this one, because another machine has already used them.
    mutating func advance(past number: UInt64) { last = max(last, number) }

    /// Makes all later numbers greater than those of machines in use. A number that is taken here by mistake then never
    /// equals a number of another machine.
    mutating func retire() { last |= 1 << 63 }

    /// Takes the next number.
    mutating func takeNumber() -> UInt64 {
        last += 1
        return last
    }

    /// Records a change of the content. Responses to older requests do not count after it.
    mutating func commit(at number: UInt64) { committed = number }

    /// Records that the content was invalidated at this number. Zero ends the last invalidation.
    mutating func invalidate(at number: UInt64) { invalidated = number }

    private func index(of number: UInt64) -> Int? { loads.lastIndex { $0.number == number } }
}
