import EssentialsTools

extension RecordDirectory {
    // MARK: Counting

    /// Counts a use of a record that was read.
    func used(_ name: RecordName, _ space: Int, _ facts: RecordFacts) {
        let body = facts.hasFile ? facts.id : nil
        let isCounted = state.withLock { state in
            guard state.order.contains(name), state.bodies[name] == body else { return false }
            state.order.use(name)
            return true
        }
        guard !isCounted else { return }
        // Another process has stored the record, or it has been removed or replaced since it was read.
        try? locked { () throws(FileError) in
            guard try outline(of: name)?.facts == facts else { return }
            state.withLock { $0.count(name, space, body) }
        }
        evict()
    }

    /// Counts a stored record. The caller has the lock of the directory, and evicts after releasing it.
    ///
    /// - Parameter reservation: The space that was reserved for the record, which is released.
    func stored(_ name: RecordName, _ space: Int, body: UInt64?, reservation: Int) {
        state.withLock { state in
            state.reserved = max(state.reserved - reservation, 0)
            state.committed = min(state.committed + space, configuration.maximumBytes)
            state.count(name, space, body)
        }
    }

    // MARK: Reserving

    /// Reserves space for a record that is being written. Other records can be evicted for it.
    ///
    /// - Throws: `EFBIG` if the other records that are being written leave too little space.
    func reserve(_ bytes: Int) throws(FileError) {
        let isReserved = state.withLock { state in
            guard bytes <= configuration.maximumBytes - state.reserved else { return false }
            state.reserved += bytes
            return true
        }
        guard isReserved else { throw FileError(code: EFBIG) }
        evict()
    }

    func release(_ bytes: Int) { state.withLock { $0.reserved = max($0.reserved - bytes, 0) } }

    // MARK: Evicting

    /// Removes records until the rest fits.
    ///
    /// - Parameter spared: A record that stays, because it was just stored.
    func evict(sparing spared: RecordName? = nil) {
        evict(sparing: spared) { [configuration] state in state.isTooLarge(for: configuration) }
    }

    /// Evicts records until at least this many bytes are free or no record is left, for example on a full disk.
    package func evict(bytes: Int) {
        let before = state.withLock { $0.order.bytes }
        evict { state in state.order.bytes > before - bytes }
    }

    private func evict(sparing spared: RecordName? = nil, while isTooLarge: (borrowing State) -> Bool) {
        evicting.withLock { _ in
            guard state.withLock({ isTooLarge($0) }) else { return }
            // If the lock is not free in time, nothing is removed, and the next record tries again.
            try? locked { () throws(FileError) in
                while let name = state.withLock({ state in
                    isTooLarge(state)
                        ? state.order.evict(budget: configuration.maximumBytes, sparing: spared) : nil
                }) {
                    // A file that cannot be removed is found again by the next sweep.
                    try? removeFiles(of: name)
                }
            }
        }
    }
}

extension RecordDirectory.State {
    /// Notes that a commit of this process, and no other, has changed the number of commits since the one before.
    mutating func noteCommit(after commits: UInt64) {
        if completeAt == commits { completeAt = commits &+ 1 }
        if sweptAt == commits { sweptAt = commits &+ 1 }
    }

    fileprivate mutating func count(_ name: RecordName, _ space: Int, _ body: UInt64?) {
        changedInSweep?.insert(name)
        noteScope(of: name)
        bodies[name] = body
        if order.bytes(of: name) == space { order.use(name) } else { order.insert(name, bytes: space) }
    }

    fileprivate func isTooLarge(for configuration: RecordDirectory.Configuration) -> Bool {
        order.bytes > configuration.maximumBytes - reserved || order.count > configuration.maximumCount
    }
}
