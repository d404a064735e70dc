import EssentialsTools

/// Lookups on the caller's own thread, for directories with ``Configuration/invalidatesAllPartitions``.
///
/// They wait neither for a disk nor for the lock of the directory, and see what other processes have stored, removed and
/// invalidated like any other lookup. They give up if something is not in the system's memory, damaged, missing or not
/// allowed: the lookup on a file thread then decides, and cleans up.
extension RecordDirectory {
    package struct Resident: Sendable {
        /// All records of a key, in the order of their numbers.
        package let records: [StoredRecord]
        package let condition: RecordCondition
        /// The files whose time of use is to be written; see ``RecordDirectory/noteUse(of:)``.
        package let outdated: [OpenFile]
    }

    /// What is known of a directory before a record is read.
    private struct Beginning {
        let removals: RecordRemovals
        let invalidations: KeyInvalidations.Resident
        let condition: RecordCondition
    }

    private struct Found {
        let record: StoredRecord
        let file: OpenFile
        let modified: FileStatus.Moment
    }

    private enum Reading {
        case record(Found)
        /// There is no file.
        case missing
        /// The record belongs to another key.
        case other
        case unknown
    }

    /// How exact the time of the last use of a record is. It only decides which records of another process are evicted first.
    private static let useTime: Int64 = 60

    /// The same as ``lookup(_:)``; `nil` if only a file thread can find it out.
    package func residentLookup(_ key: RecordKey) -> Resident? {
        guard let beginning = residentBeginning() else { return nil }
        var (found, missing): ([Found], [RecordName]) = ([], [])
        for name in present(names(key), beginning) {
            switch readResident(name, key, beginning) {
            case .record(let record): found.append(record)
            case .missing: missing.append(name)
            case .other: continue
            case .unknown: return nil
            }
        }
        // Read last, so that an invalidation that has ended before a record was read is known.
        let numbers = found.map { $0.record.facts.invalidation }
        guard numbers.isEmpty || invalidations.allow(key.name.key, begun: numbers, beginning.invalidations),
            use(found, missing)
        else { return nil }
        let now = Int64(Self.present / 1_000_000_000)
        return Resident(
            records: found.map(\.record), condition: beginning.condition,
            outdated: found.filter { $0.modified.seconds < now - Self.useTime }.map(\.file))
    }

    /// The same as ``condition(of:)``; `nil` if only a file thread can find it out.
    package func residentCondition() -> RecordCondition? { residentBeginning()?.condition }

    /// Writes the time of a use. It can block, so it belongs on a file thread.
    package func noteUse(of files: [OpenFile]) { for file in files { _ = futimens(file.descriptor, nil) } }

    private func residentBeginning() -> Beginning? {
        guard configuration.invalidatesAllPartitions else { return nil }
        let (isUsable, known, unwritten) = state.withLock { state in
            (state.isPrepared && state.isLocal && state.unwritten.isEmpty, state.removals, state.unwritten.count)
        }
        guard isUsable, known.version > 0, !known.isDamaged, isPresent(known),
            let invalidations = invalidations.resident()
        else { return nil }
        return Beginning(
            removals: known.removals, invalidations: invalidations,
            condition: RecordCondition(
                begun: known.removals.latest, invalidation: invalidations.latest, unwritten: unwritten))
    }

    /// The names under which there can be records. If all are counted, and no other process has stored one since, there are
    /// no others.
    private func present(_ names: [RecordName], _ beginning: Beginning) -> [RecordName] {
        state.withLock { state in
            guard state.completeAt == beginning.invalidations.commits else { return names }
            return names.filter { state.order.contains($0) }
        }
    }

    /// Whether the file of removals is still the one that this process has read last.
    private func isPresent(_ known: KnownRemovals) -> Bool {
        let path = path(of: Self.removalsName)
        guard let status = known.status else {
            if case .missing = calls.openResident(path, O_RDONLY | O_NOFOLLOW) { return true }
            return false
        }
        // As long as the file is open and has the name, the system has that name in memory.
        return known.file != nil && (try? calls.status(of: path)) == status
    }

    private func readResident(_ name: RecordName, _ key: RecordKey, _ beginning: Beginning) -> Reading {
        guard let (file, status) = openResident(path(of: name.text)) else { return .unknown }
        guard let file, let status else { return .missing }
        guard let size = Int(exactly: status.size), size <= maximumFile, (try? calls.check(.read)) != nil,
            let bytes = ResidentRead.array(of: file, count: size), let content = RecordContent(bytes, format)
        else { return .unknown }
        guard content.key == key.bytes else { return .other }
        guard beginning.removals.allowsReading(of: name, begun: content.facts.begun) else { return .unknown }
        var body = StoredRecord.Body.inline(content.body)
        if let described = content.file {
            let path = path(of: RecordBodyName(name, content.facts.id).text)
            guard let opened = openResident(path), let file = opened.file, opened.status?.size == described.size else {
                return .unknown
            }
            body = .file(CheckedFile(file: file, size: described.size, checksums: described.checksums))
        }
        let record = StoredRecord(
            name: name, key: content.key, head: content.head, body: body, facts: content.facts)
        return .record(Found(record: record, file: file, modified: status.modified))
    }

    /// A file of this program with its status, both `nil` if it is missing; an outer `nil` if that is not known.
    private func openResident(_ path: String) -> (file: OpenFile?, status: FileStatus?)? {
        guard (try? calls.check(.open, path)) != nil else { return nil }
        switch calls.openResident(path, O_RDONLY | O_NOFOLLOW) {
        case .missing: return (nil, nil)
        case .unknown: return nil
        case .file(let file):
            guard let status = try? calls.status(of: file), (try? OwnFile.check(status, [])) != nil else { return nil }
            return (file, status)
        }
    }

    /// Counts the uses of records that were read; `false` if one of them is not counted yet, or if one that is missing is.
    private func use(_ found: [Found], _ missing: [RecordName]) -> Bool {
        state.withLock { state in
            let areCounted = found.allSatisfy { found in
                let (name, facts) = (found.record.name, found.record.facts)
                return state.order.contains(name) && state.bodies[name] == (facts.hasFile ? facts.id : nil)
            }
            guard areCounted, !missing.contains(where: { state.order.contains($0) }) else { return false }
            for found in found { state.order.use(found.record.name) }
            return true
        }
    }
}
