import EssentialsTools

extension RecordDirectory {
    static let removalsName = ".removals"

    /// Whether no removal hides a record.
    ///
    /// - Parameter begun: The number of the last removal when the writing of the record began.
    func allowsReading(_ name: RecordName, begun: UInt64) throws(FileError) -> Bool {
        let known = try knownRemovals()
        return known.removals.allowsReading(of: name, begun: begun)
            && !state.withLock { $0.unwritten.contains(name) }
    }

    /// The written removals. The file is read again if another process or instance has changed it.
    ///
    /// - Throws: The failure if the file cannot be read now. It is then unknown which records may be read.
    func knownRemovals() throws(FileError) -> KnownRemovals {
        while true {
            let known = state.withLock { $0.removals }
            let present = try removalStatus()
            if known.version > 0, known.status == present { return known }
            var read = try readRemovals(present)
            let isLatest = state.withLock { state in
                // Otherwise another thread has read or written a file meanwhile, perhaps a newer one.
                guard state.removals.version == known.version else { return false }
                read.version = known.version + 1
                state.removals = read
                return true
            }
            if isLatest { return read }
        }
    }

    private func removalStatus() throws(FileError) -> FileStatus? {
        do throws(FileError) {
            return try calls.status(of: path(of: Self.removalsName))
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    private func readRemovals(_ present: FileStatus?) throws(FileError) -> KnownRemovals {
        guard present != nil else { return KnownRemovals() }
        // A file that does not belong to the program counts as damaged.
        var read = KnownRemovals(removals: RecordRemovals(lostAt: Self.present), status: present, isDamaged: true)
        let (file, status): (OpenFile, FileStatus)
        do throws(OwnFile.Refusal) {
            (file, status) = try calls.openOwn(
                path(of: Self.removalsName), O_RDONLY, [], upTo: Int64(RecordRemovals.maximumSize))
        } catch {
            if error.isMissing { return KnownRemovals() }
            guard error.isOfOthers else { throw error.fileError }
            return read
        }
        (read.file, read.status) = (file, status)
        if let removals = RecordRemovals(bytes: try calls.bytes(of: file, count: Int(clamping: status.size))) {
            (read.removals, read.isDamaged) = (removals, false)
        }
        return read
    }

    /// The time in nanoseconds. In a new file, the numbers of removals and of invalidations start here, so that they are
    /// larger than those of a lost file, unless the clock was set back.
    static var present: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
    }

    // MARK: Changing

    /// Changes the file of removals, and adds the removals that could not be written before.
    ///
    /// - Parameter durability: The data to flush before the call returns. A removal must reach the disk, so that its
    ///   records do not reappear after a loss of power; see ``flushRemovals()``.
    /// - Returns: The removals after the change.
    @discardableResult
    func changeRemovals(
        _ durability: AtomicFile.Durability, _ change: (inout RecordRemovals) -> Void
    ) throws(FileError) -> RecordRemovals {
        try locked { () throws(FileError) in try writeRemovals(durability, change) }
    }

    /// Flushes the file of removals and its name to the disk.
    func flushRemovals() throws(FileError) {
        guard let file = state.withLock({ $0.removals.file }) else { return }
        try calls.flush(file)
        try directory.sync()
    }

    /// The number of the last written removal. A damaged file is replaced.
    func latestRemoval() throws(FileError) -> UInt64 {
        let known = try knownRemovals()
        if !known.isDamaged, hasNotedRemovals { return known.removals.latest }
        do throws(FileError) {
            return try changeRemovals(.contentAndName) { _ in }.latest
        } catch {
            // The commit and each reading also check the unwritten removals.
            guard !known.isDamaged else { throw error }
            return known.removals.latest
        }
    }

    private func writeRemovals(
        _ durability: AtomicFile.Durability, _ change: (inout RecordRemovals) -> Void
    ) throws(FileError) -> RecordRemovals {
        let known = try knownRemovals()
        var removals = known.status == nil ? RecordRemovals(startingAt: Self.present) : known.removals
        let unwritten = state.withLock { $0.unwritten }
        unwritten.note(in: &removals)
        change(&removals)
        let file = try AtomicFile(
            path(of: Self.removalsName), temporary: path(of: Self.temporaryName()), durability, calls: calls)
        do throws(FileError) {
            try file.append(removals.bytes.span.bytes)
        } catch {
            file.abandon()
            throw error
        }
        let status = try file.commit()
        state.withLock { state in
            state.removals = KnownRemovals(
                removals: removals, status: status, file: file.file, version: state.removals.version + 1)
            state.unwritten.subtract(unwritten)
        }
        return removals
    }

    /// Records the removal of a scope. If it cannot be written, only this process knows it.
    ///
    /// - Parameter isWhole: Whether the present records of the scope must not be read any more. Otherwise they can be
    ///   read, and only the records that are being written now are not committed.
    /// - Returns: The written removals; `nil` if this one could not be written.
    func note(
        _ scope: RecordScope, isWhole: Bool, _ durability: AtomicFile.Durability = .contentAndName
    ) -> RecordRemovals? {
        if let removals = try? changeRemovals(durability, { $0.begin(scope, isWhole: isWhole) }) { return removals }
        state.withLock { if isWhole { $0.unwritten.add(scope) } else { $0.unwritten.endCommits() } }
        return nil
    }

    /// Records that some records must not be read any more. If it cannot be written, only this process knows it.
    ///
    /// - Returns: The number of the removal; `nil` if it could not be written.
    @discardableResult
    func note(_ names: [RecordName]) -> UInt64? {
        var number: UInt64?
        if (try? changeRemovals(.contentAndName, { number = $0.add(names) })) != nil { return number }
        state.withLock { $0.unwritten.add(names) }
        return nil
    }
}
