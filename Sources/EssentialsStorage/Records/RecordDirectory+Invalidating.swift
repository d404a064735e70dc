import EssentialsTools

extension RecordDirectory {
    /// The maximum number of partitions of a group whose records an invalidation removes at once. Those in further
    /// partitions are not read any more, and are removed when they are found.
    private static let maximumPartitions = 64

    /// The name of the file of invalidations, which only directories with
    /// ``Configuration/invalidatesAllPartitions`` have.
    package static var invalidationsName: String { KeyInvalidations.fileName }

    // MARK: Names

    /// The name of a record of a key; `nil` if the key has no such record.
    func name(_ key: RecordKey, _ number: UInt8) -> RecordName? {
        let (sum, overflows) = key.name.number.addingReportingOverflow(number)
        return number < configuration.recordsPerKey && !overflows ? key.name.numbered(sum) : nil
    }

    /// The names of all records of a key.
    func names(_ key: RecordKey) -> [RecordName] { (0..<configuration.recordsPerKey).compactMap { name(key, $0) } }

    /// The first number of a key under which there is no record, also of another key with the same name; `nil` if there is
    /// none.
    package func unusedNumber(of key: RecordKey) throws(FileError) -> UInt8? {
        names(key).first { !isThere($0) }.map { $0.number - key.name.number }
    }

    // MARK: All partitions

    /// The number of the last invalidation; zero if keys are not invalidated in all partitions.
    func latestInvalidation() throws(FileError) -> UInt64 {
        guard configuration.invalidatesAllPartitions else { return 0 }
        if let latest = try invalidations.latest() { return latest }
        return try locked { () throws(FileError) in try invalidations.begin(at: Self.present) }
    }

    /// Whether a record has not been invalidated since its writing began.
    func isValid(_ name: RecordName, since invalidation: UInt64) throws(FileError) -> Bool {
        guard configuration.invalidatesAllPartitions else { return true }
        return try invalidations.allow(name.key, begun: invalidation)
    }

    /// Removes a record that was read, unless it was replaced since.
    func removeIfSame(_ name: RecordName, _ facts: RecordFacts) {
        // If it cannot be removed now, it is found again later.
        try? locked { () throws(FileError) in
            guard try outline(of: name)?.facts == facts else { return }
            try removeFiles(of: name)
        }
    }

    /// Invalidates the records of a key in all partitions, also those of other processes, and removes those that this
    /// process knows.
    func invalidateInAllPartitions(_ key: RecordKey) throws(FileError) {
        let group = RecordScope(group: key.name.group)
        do throws(FileError) {
            try open()
        } catch {
            // The directory may belong to another program, so nothing is written to it.
            state.withLock { $0.unwritten.add(group) }
            throw error
        }
        do throws(FileError) {
            try locked { () throws(FileError) in try invalidations.add(key.name.key, startingAt: Self.present) }
        } catch {
            // The partitions of the key are unknown, so all records of the group are hidden.
            _ = note(group, isWhole: true)
            throw error
        }
        let known = knownNames(key)
        guard !known.isEmpty else { return }
        // A record that was stored after the invalidation stays.
        _ = remove(known) { name in
            let facts = try? outline(of: name)?.facts
            return facts.map { facts in (try? isValid(name, since: facts.invalidation)) != true } ?? true
        }
    }

    /// The counted records of a key in all partitions that this process has seen in the group of the key.
    private func knownNames(_ key: RecordKey) -> [RecordName] {
        state.withLock { state in
            let scopes = state.scopes.filter { $0.group == key.name.group }
            guard scopes.count <= Self.maximumPartitions else { return [] }
            return scopes.flatMap { scope in
                (UInt8.min ... .max).compactMap { number -> RecordName? in
                    let name = RecordName(
                        key: key.name.key, partition: scope.partition ?? 0, group: key.name.group, number: number)
                    return state.order.contains(name) ? name : nil
                }
            }
        }
    }
}
