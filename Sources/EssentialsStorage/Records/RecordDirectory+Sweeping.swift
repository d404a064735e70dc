import EssentialsTools

extension RecordDirectory {
    /// A temporary name. A sweep removes its file if no process has locked it.
    package static func temporaryName() -> String {
        ".record-" + String(UInt64.random(in: .min ... .max), radix: 16) + ".tmp"
    }

    /// Whether ``temporaryName()`` created a name.
    package static func isTemporary(_ name: String) -> Bool { name.hasPrefix(".record-") && name.hasSuffix(".tmp") }

    /// The files found by a sweep.
    private struct Found {
        var records: [(name: RecordName, size: Int64, used: FileStatus.Moment)] = []
        var bodies: [RecordName: [(id: UInt64, size: Int64)]] = [:]
        /// Records whose status could not be read, or that are not regular files of this user.
        var unknown: [RecordName] = []
    }

    /// Creates the directory, and counts its records or reads their index, once.
    ///
    /// - Throws: `ELOOP` if it is a symbolic link; `EPERM` if it belongs to another user, or if others can write to it
    ///   and could therefore put records there; `ENOTDIR` if it is not a directory.
    package func open() throws(FileError) {
        // If another thread is sweeping, records can be read and stored before it has counted them.
        guard !state.withLock({ $0.isOpened || $0.isPrepared && $0.changedInSweep != nil }) else { return }
        try prepare()
        if readIndex() { evict() } else { try sweepOnce() }
    }

    /// Creates and checks the directory, once, without reading what is in it.
    ///
    /// - Throws: As ``open()``.
    package func use() throws(FileError) {
        try prepare()
        // It may be on a file system that cannot be written.
        _ = try locked { () throws(FileError) in true }
    }

    /// Creates and checks the directory, once.
    func prepare() throws(FileError) {
        guard !state.withLock({ $0.isPrepared }) else { return }
        try calls.check(.makeDirectory, path)
        try directory.make()
        let status = try calls.status(of: path)
        guard !status.isLink else { throw FileError(code: ELOOP) }
        guard status.permissions & 0o022 == 0 else { throw FileError(code: EPERM) }
        let isLocal = ResidentOpen.isLocal(path)
        state.withLock { state in (state.isPrepared, state.isLocal) = (true, isLocal) }
    }

    // MARK: Index

    /// Writes the index, from which the next process reads what this one has counted. It saves the time for listing a
    /// large directory before the first record is stored. Call it now and then, and at the end.
    package func writeIndex() throws(FileError) {
        try open()
        let (order, bodies, committed, completeAt) = state.withLock { state in
            (state.order, state.bodies, state.committed, state.completeAt)
        }
        let index = RecordIndex(order, bodies, committed: committed, completeAt: completeAt)
        try AtomicFile.write(
            [index.bytes], to: path(of: RecordIndex.fileName), temporary: path(of: Self.temporaryName()), .none,
            calls: calls)
    }

    /// How much later than the index the directory may have changed.
    private static let indexTolerance: Int64 = 5

    /// Counts the records of the index. Other processes may have changed them since, which the next sweep finds.
    ///
    /// - Returns: `false` if there is no index, if it is damaged, or if the directory has changed since, as after a process that
    ///   has ended without writing it.
    private func readIndex() -> Bool {
        guard configuration.invalidatesAllPartitions || isIndexRecent else { return false }
        let maximum = RecordIndex.size(for: configuration.maximumCount)
        guard case .bytes(let bytes)? = try? directory.read(RecordIndex.fileName, upTo: maximum, isUse: false),
            let index = RecordIndex(bytes: bytes)
        else { return false }
        let commits = configuration.invalidatesAllPartitions ? try? invalidations.commits() : nil
        guard !configuration.invalidatesAllPartitions || index.isComplete(at: commits) else { return false }
        return state.withLock { state in
            // A sweep finds more.
            guard !state.isOpened, state.changedInSweep == nil else { return true }
            index.restore(in: &state, commits)
            state.isOpened = true
            return true
        }
    }

    /// Whether the directory has not changed since its index was written.
    private var isIndexRecent: Bool {
        guard let index = try? calls.status(of: path(of: RecordIndex.fileName)),
            let present = try? calls.status(of: path)
        else { return false }
        return present.modified.seconds <= index.modified.seconds + Self.indexTolerance
    }

    // MARK: Sweeping

    /// Sweeps after this process has stored a quarter of the maximum, because the processes together may then exceed
    /// it.
    ///
    /// - Parameter spared: A record that stays, because it was just stored.
    func sweepIfNeeded(sparing spared: RecordName) {
        guard state.withLock({ $0.committed > configuration.maximumBytes / 4 }) else { return }
        try? sweepOnce(sparing: spared)
    }

    /// Counts the records of all processes and evicts those beyond the maximum. It also removes files that killed
    /// processes have left behind, and records that could not be removed before. Returns at once if another thread of
    /// this process is sweeping.
    package func sweep() throws(FileError) {
        try prepare()
        try sweepOnce()
    }

    private func sweepOnce(sparing spared: RecordName? = nil) throws(FileError) {
        let isOnly = state.withLock { state in
            guard state.changedInSweep == nil else { return false }
            (state.changedInSweep, state.committed) = ([], 0)
            return true
        }
        guard isOnly else { return }
        defer { state.withLock { $0.changedInSweep = nil } }
        beginCounting()
        // Read before the files are listed. A later removal can concern files that are not in the list, so this sweep
        // must not finish it.
        let known = try knownRemovals()
        var found = try list()
        if known.removals.isUnfinished {
            let removals = known.removals
            let concerned = found.records.map(\.name).filter { removals.mayConcern($0) }
            let left = removeForbidden(concerned, by: removals).left
                .union(found.unknown.filter { removals.mayConcern($0) })
            _ = try? changeRemovals(.none) { $0.finish(removals, left: left) }
            found.records.removeAll { removals.mayConcern($0.name) && directory.status(of: $0.name.text) == nil }
        }
        removeOrphans(&found)
        take(found)
        state.withLock { state in
            state.isOpened = true
            state.completeAt = found.unknown.isEmpty ? state.sweptAt : nil
        }
        evict(sparing: spared)
    }

    /// Reads the number of commits, for ``State/completeAt``.
    private func beginCounting() {
        state.withLock { $0.sweptAt = nil }
        guard configuration.invalidatesAllPartitions else { return }
        // Under the lock, every commit that was counted has put its files in place. Without the number, the records are
        // merely found more slowly.
        try? locked { () throws(FileError) in
            _ = try invalidations.begin(at: Self.present)
            let commits = try invalidations.commits()
            state.withLock { $0.sweptAt = commits }
        }
    }

    private func list() throws(FileError) -> Found {
        try calls.check(.list, path)
        var found = Found()
        for text in try directory.names(upTo: .max) {
            if Self.isTemporary(text) || configuration.isOutdated(text) {
                directory.removeAbandoned(text)
            } else if let name = RecordName(text) {
                guard let status = directory.status(of: text) else {
                    found.unknown.append(name)
                    continue
                }
                found.records.append((name, status.size, status.modified))
            } else if let body = RecordBodyName(text) {
                guard let status = directory.status(of: text) else { continue }
                found.bodies[body.record, default: []].append((body.id, status.size))
            }
        }
        return found
    }

    /// Counts the records that were found, except those that changed during the sweep.
    private func take(_ found: Found) {
        let records = found.records.sorted { $0.used.isBefore($1.used) }
        let names = Set(records.map(\.name))
        state.withLock { state in
            let changed = state.changedInSweep ?? []
            for name in Array(state.order.keys) where !names.contains(name) && !changed.contains(name) {
                state.order.remove(name)
                state.bodies[name] = nil
            }
            for record in records where !changed.contains(record.name) {
                let body = found.bodies[record.name]?.first
                let space = space(record.size, body?.size)
                state.noteScope(of: record.name)
                state.bodies[record.name] = body?.id
                if state.order.bytes(of: record.name) != space { state.order.insert(record.name, bytes: space) }
            }
        }
    }

    /// Removes the bodies that no record refers to, from the directory and from `found`.
    private func removeOrphans(_ found: inout Found) {
        var known = state.withLock { $0.bodies }
        if configuration.largestInlineBody <= 0 {
            for (name, _, _) in found.records where known[name] == nil { known[name] = found.bodies[name]?.first?.id }
        }
        var orphans: [RecordName: [UInt64]] = [:]
        for (name, bodies) in found.bodies {
            guard bodies.count > 1 || bodies.first?.id != known[name] else { continue }
            let id: UInt64?
            // A head that cannot be read now may refer to any of the bodies, so all of them stay.
            do throws(FileError) { id = try bodyID(of: name) } catch { continue }
            found.bodies[name] = bodies.filter { $0.id == id }
            orphans[name] = bodies.map(\.id).filter { $0 != id }
        }
        try? removeOrphans(orphans.filter { !$0.value.isEmpty })
    }

    /// Removes each of the bodies that its record does not refer to.
    func removeOrphans(_ bodies: [RecordName: [UInt64]]) throws(FileError) {
        let all = Array(bodies)
        for start in stride(from: 0, to: all.count, by: Self.batch) {
            // A commit renames the body and then the head under one lock. So a body that no head refers to belongs to
            // no running commit.
            try locked { () throws(FileError) in
                for (name, ids) in all[start..<min(start + Self.batch, all.count)] {
                    let named = try bodyID(of: name)
                    for id in ids where id != named { try calls.remove(path(of: RecordBodyName(name, id).text)) }
                }
            }
        }
    }
}
