import EssentialsTools

extension RecordDirectory {
    /// The number of records that are removed under one lock of the directory.
    static let batch = 32

    // MARK: One key

    /// Removes all records of a key, or those in all partitions; see
    /// ``Configuration/invalidatesAllPartitions``. A ``RecordWriter`` of the key that was created before the call commits nothing,
    /// even if there was no record to remove.
    ///
    /// - Throws: The first failure. Records that could not be removed are not read any more.
    package func invalidate(_ key: RecordKey) throws(FileError) {
        guard !configuration.invalidatesAllPartitions else { return try invalidateInAllPartitions(key) }
        let names = names(key)
        do throws(FileError) {
            try open()
        } catch {
            // The directory may belong to another program, so nothing is written to it.
            state.withLock { $0.unwritten.add(names) }
            throw error
        }
        var failure: FileError?
        do throws(FileError) {
            // A commit that took the lock earlier is complete, and its record is removed. A later one finds a new
            // number and is refused.
            failure = try locked { () throws(FileError) -> FileError? in
                var failure: FileError?
                do throws(FileError) {
                    // Without a file of numbers, no writer has a number that a commit would accept.
                    if try numbers.areThere() { try numbers.raise(key.name) }
                } catch {
                    failure = error
                }
                for name in names where name.number == key.name.number || isThere(name) {
                    do throws(FileError) { try removeFiles(of: name) } catch { failure = failure ?? error }
                }
                return failure
            }
        } catch {
            failure = error
        }
        guard let failure else { return }
        _ = note(RecordScope(partition: key.name.partition, group: key.name.group), isWhole: false)
        note(names)
        throw failure
    }

    func isThere(_ name: RecordName) -> Bool {
        do throws(FileError) {
            _ = try calls.status(of: path(of: name.text))
            return true
        } catch {
            return !error.isMissing
        }
    }

    // MARK: Many records

    /// Removes all records of a scope, also those of other processes. When the call returns, no such record is read any
    /// more, even if a file could not be removed. Records of the scope that are being written during the call are not
    /// committed.
    ///
    /// - Parameter isRemoved: A condition for the keys, which are read from the files. Only the records that fulfil it
    ///   are removed, but commits are refused in the whole scope.
    /// - Throws: The first failure. Other records are removed nevertheless, as long as the lock of the directory is
    ///   free.
    package func removeAll(
        in scope: RecordScope, where isRemoved: (([UInt8]) -> Bool)? = nil
    ) throws(FileError) {
        do throws(FileError) {
            try open()
        } catch {
            // The directory may belong to another program, so nothing is written to it.
            state.withLock { $0.unwritten.add(scope) }
            throw error
        }
        let first =
            if let isRemoved { try removeAll(in: scope, if: isRemoved) } else { try removeWhole(scope) }
        if let first { throw first }
    }

    private func removeWhole(_ scope: RecordScope) throws(FileError) -> FileError? {
        // Recorded first, because the process can end between two files, and other processes store records meanwhile.
        let noted = note(scope, isWhole: true, .none)
        let (names, bodies) = try fileNames()
        let removed = names.filter { scope.contains($0) }
        let (left, failure): (Set<RecordName>, FileError?)
        if let noted {
            // If there were no records, none can reappear after a loss of power.
            if !removed.isEmpty { try? flushRemovals() }
            (left, failure) = removeForbidden(removed, by: noted)
            // Records that earlier removals left behind are removed again.
            let others = names.filter { !scope.contains($0) && noted.mayConcern($0) }
            let again = failure?.isOfLock == true ? Set(others) : removeForbidden(others, by: noted).left
            // Not flushed: if this entry is lost, the records are merely removed once more.
            _ = try? changeRemovals(.none) { $0.finish(noted, left: left.union(again)) }
        } else {
            (left, failure) = remove(removed) { _ in true }
            state.withLock { state in
                state.unwritten.remove(scope)
                if !left.isEmpty { state.unwritten.add(left) }
            }
        }
        let orphans = removeOrphans(of: scope, bodies, Set(removed).subtracting(left))
        if !removed.isEmpty { try directory.sync() }
        return failure ?? orphans
    }

    private func removeAll(
        in scope: RecordScope, if isRemoved: ([UInt8]) -> Bool
    ) throws(FileError) -> FileError? {
        let noted = note(scope, isWhole: false, .none)
        let names: [RecordName]
        do throws(FileError) {
            (names, _) = try fileNames()
        } catch {
            // The records that fulfil the condition are unknown, so all records of the scope are hidden.
            _ = note(scope, isWhole: true)
            throw error
        }
        // A record whose key cannot be read is removed too.
        let removed = names.filter { scope.contains($0) && ((try? storedKey(of: $0)).map(isRemoved) ?? true) }
        var first: FileError?
        // Removals up to this size are recorded by the names of their records. A larger one would hide the whole scope.
        for start in stride(from: 0, to: removed.count, by: RecordRemovals.maximumNames / 2) {
            let part = Array(removed[start..<min(start + RecordRemovals.maximumNames / 2, removed.count)])
            let number = note(part)
            let (left, failure) = remove(part) { name in
                // A record that was stored after the removal was recorded stays.
                number.map { number in ((try? outline(of: name))?.facts.begun ?? 0) < number } ?? true
            }
            if let number {
                _ = try? changeRemovals(.none) { $0.finish(number, left: left) }
            } else {
                state.withLock { $0.unwritten.remove(part.filter { !left.contains($0) }) }
            }
            first = first ?? failure
        }
        if let noted, noted.isUnfinished, first?.isOfLock != true {
            // Records that earlier removals left behind are removed again.
            let done = Set(removed)
            let others = names.filter { noted.mayConcern($0) && !done.contains($0) }
            let left = removeForbidden(others, by: noted).left
            _ = try? changeRemovals(.none) { $0.finish(noted, left: left) }
        }
        if !removed.isEmpty { try directory.sync() }
        return first
    }

    /// Removes the bodies of a scope that no record refers to.
    ///
    /// - Parameters:
    ///   - bodies: The bodies that existed before records were removed.
    ///   - removed: The removed records, each with the body that it referred to.
    private func removeOrphans(
        of scope: RecordScope, _ bodies: [RecordBodyName], _ removed: Set<RecordName>
    ) -> FileError? {
        let found = Dictionary(grouping: bodies.filter { scope.contains($0.record) }, by: \.record)
            .filter { $0.value.count > 1 || !removed.contains($0.key) }
        do throws(FileError) { try removeOrphans(found.mapValues { $0.map(\.id) }) } catch { return error }
        return nil
    }

    /// Removes each of the records that a removal hides. A record that was stored after the removal stays.
    ///
    /// - Returns: The records that could not be removed, and the first failure.
    func removeForbidden(
        _ names: [RecordName], by removals: RecordRemovals
    ) -> (left: Set<RecordName>, failure: FileError?) {
        remove(names) { name in !removals.allowsReading(of: name, begun: (try? outline(of: name))?.facts.begun ?? 0) }
    }

    func remove(
        _ names: [RecordName], where isForbidden: (RecordName) -> Bool
    ) -> (left: Set<RecordName>, failure: FileError?) {
        var (left, first): (Set<RecordName>, FileError?) = ([], nil)
        for start in stride(from: 0, to: names.count, by: Self.batch) {
            let batch = names[start..<min(start + Self.batch, names.count)]
            do throws(FileError) {
                try locked { () throws(FileError) in
                    for name in batch where isForbidden(name) {
                        do throws(FileError) {
                            try removeFiles(of: name)
                        } catch {
                            left.insert(name)
                            first = first ?? error
                        }
                    }
                }
            } catch {
                // The lock was not free in time, so the rest is left. The caller records it.
                left.formUnion(names[start...])
                return (left, first ?? error)
            }
        }
        return (left, first)
    }

    /// Removes the file of a record and then that of its body, even if the first removal fails. The caller has the lock
    /// of the directory.
    func removeFiles(of name: RecordName) throws(FileError) {
        let body = lastBodyID(of: name)
        // Deferred, so that the space is not reused before the files are removed. If a file is left, a sweep counts it
        // again.
        defer { forget(name) }
        var failure: FileError?
        do throws(FileError) { try calls.remove(path(of: name.text)) } catch { failure = error }
        if let body {
            do throws(FileError) { try calls.remove(path(of: RecordBodyName(name, body).text)) } catch {
                failure = failure ?? error
            }
        }
        if let failure {
            // What is left is not counted.
            state.withLock { $0.completeAt = nil }
            throw failure
        }
    }

    /// Forgets a missing record, unless it was stored meanwhile.
    func forgetMissing(_ name: RecordName) {
        guard state.withLock({ $0.order.contains(name) }) else { return }
        try? locked { () throws(FileError) in if !isThere(name) { forget(name) } }
    }

    func forget(_ name: RecordName) {
        state.withLock { state in
            state.changedInSweep?.insert(name)
            state.order.remove(name)
            state.bodies[name] = nil
        }
    }

    private func fileNames() throws(FileError) -> ([RecordName], [RecordBodyName]) {
        try calls.check(.list, path)
        let names = try directory.names(upTo: .max)
        return (names.compactMap { RecordName($0) }, names.compactMap { RecordBodyName($0) })
    }
}
