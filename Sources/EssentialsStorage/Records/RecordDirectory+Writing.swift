import EssentialsTools

/// The state of a key and of its scopes. A record that began with it is committed only if it has not changed.
package struct RecordCondition: Sendable {
    /// The number of the key; `nil` if a concurrent invalidation does not prevent the commit.
    fileprivate(set) var keyNumber: UInt64?
    /// The number of the last removal.
    let begun: UInt64
    /// The number of the last invalidation of any key; zero if keys are not invalidated in all partitions.
    let invalidation: UInt64
    /// The count of removals that could not be written.
    let unwritten: UInt64
}

/// The complete files of a record, which still have temporary names.
struct RecordCommit {
    let name: RecordName
    let facts: RecordFacts
    let head: AtomicFile
    let body: AtomicFile?
    /// The space on the disk.
    let space: Int
    /// The space that was reserved, which is released.
    var reservation = 0
}

extension RecordDirectory {
    /// Begins to write a record.
    ///
    /// - Parameters:
    ///   - isFile: Whether the body has its own file, however small it is.
    ///   - earlier: The condition from ``lookup(_:)``, if an invalidation since then prevents the commit. `nil` means
    ///     the present condition.
    package func begin(
        _ key: RecordKey, isFile: Bool = false, if earlier: RecordCondition? = nil
    ) throws(FileError) -> RecordWriter {
        try open()
        let condition = if let earlier { earlier } else { try self.condition(for: key) }
        let isFile = configuration.hasBodyFiles && (isFile || configuration.largestInlineBody <= 0)
        return RecordWriter(self, key, condition, isFile: isFile)
    }

    /// The present condition for a record of a key, as a lookup returns it.
    package func condition(of key: RecordKey) throws(FileError) -> RecordCondition {
        try prepare()
        return try condition(for: key)
    }

    /// The present condition for a record of a key.
    func condition(for key: RecordKey) throws(FileError) -> RecordCondition {
        var condition = try condition()
        // The number of the last invalidation says enough.
        guard !configuration.invalidatesAllPartitions else { return condition }
        do throws(FileError) {
            condition.keyNumber = try numbers.number(of: key.name)
        } catch {
            guard error.isMissing else { throw error }
            // The directory was removed.
            try directory.make()
            condition.keyNumber = try numbers.number(of: key.name)
        }
        return condition
    }

    private func condition() throws(FileError) -> RecordCondition {
        let unwritten = state.withLock { $0.unwritten.count }
        return RecordCondition(
            begun: try latestRemoval(), invalidation: try latestInvalidation(), unwritten: unwritten)
    }

    // MARK: In one piece

    /// Whether a record is small enough for ``put(_:head:body:number:)``.
    package func canHold(_ key: RecordKey, head: Int, body: Int) -> Bool {
        let beginning = key.bytes.count + head
        return beginning <= configuration.maximumHeadBytes && body <= configuration.largestInlineBody
            && RecordOutline.size(format) + beginning + body <= configuration.maximumRecordBytes
    }

    /// Stores a record with its body in one file. It needs fewer system calls than a ``RecordWriter``, because it
    /// begins and ends at once: a concurrent invalidation takes effect before or after it.
    ///
    /// Other records are evicted only after it was stored, so that a failed write evicts none.
    ///
    /// - Returns: `false` if its scope was removed meanwhile, or if a removal could not be written.
    /// - Throws: `EFBIG` if it is too large; see ``canHold(_:head:body:)``.
    @discardableResult
    package func put(_ key: RecordKey, head: [UInt8], body: RawSpan, number: UInt8 = 0) throws(FileError) -> Bool {
        try open()
        guard canHold(key, head: head.count, body: body.byteCount), let name = name(key, number) else {
            throw FileError(code: EFBIG)
        }
        let condition = try condition()
        let facts = RecordFacts(
            id: .random(in: .min ... .max), begun: condition.begun, invalidation: condition.invalidation, hasFile: false
        )
        let beginning = body.withUnsafeBytes {
            RecordContent.beginning(facts, nil, key: key.bytes, head: head, body: $0, format)
        }
        let file: AtomicFile
        do throws(FileError) {
            file = try headFile(name, beginning, body)
        } catch {
            // The directory was removed.
            guard error.isMissing else { throw error }
            try directory.make()
            file = try headFile(name, beginning, body)
        }
        let space = space(Int64(beginning.count + body.byteCount), nil)
        let written = RecordCommit(name: name, facts: facts, head: file, body: nil, space: space)
        guard try commit(written, if: condition) else { return false }
        finishCommit(of: name)
        return true
    }

    // MARK: Committing

    func makeTemporary(for path: String) throws(FileError) -> AtomicFile {
        try AtomicFile(path, temporary: self.path(of: Self.temporaryName()), .none, calls: calls)
    }

    /// The file of a record under a temporary name.
    func headFile(_ name: RecordName, _ beginning: [UInt8], _ body: RawSpan) throws(FileError) -> AtomicFile {
        let file = try makeTemporary(for: path(of: name.text))
        do throws(FileError) {
            try file.append(beginning.span.bytes)
            try file.append(body)
        } catch {
            file.abandon()
            throw error
        }
        return file
    }

    /// Puts the files of a record in place and counts them.
    ///
    /// - Parameter replaces: Whether the record replaces one with this head; `nil` replaces every one.
    /// - Returns: `false` if the condition is no longer fulfilled. Then nothing was stored.
    func commit(
        _ written: RecordCommit, if condition: RecordCondition, _ replaces: (([UInt8]) -> Bool)? = nil
    ) throws(FileError) -> Bool {
        let name = written.name
        var isCommitted = false
        defer { if !isCommitted { written.head.abandon() } }
        try locked { () throws(FileError) in
            if let number = condition.keyNumber { guard try numbers.isStill(number, of: name) else { return } }
            let removals = try knownRemovals().removals
            guard removals.allowsCommit(of: name, begun: condition.begun),
                state.withLock({ $0.unwritten.count == condition.unwritten && !$0.unwritten.contains(name) }),
                try isValid(name, since: condition.invalidation)
            else { return }
            if let replaces, let head = try present(name)?.head, !replaces(head) { return }
            let earlier = lastBodyID(of: name)
            let commits = configuration.invalidatesAllPartitions ? try invalidations.countCommit() : nil
            defer { if let commits { state.withLock { $0.noteCommit(after: commits) } } }
            let bodyPath = path(of: RecordBodyName(name, written.facts.id).text)
            // The number in this name is random and new, so no other record uses the name.
            if let body = written.body { try calls.rename(body.temporary, bodyPath) }
            do throws(FileError) {
                try written.head.commit()
            } catch {
                if written.body != nil { try? calls.remove(bodyPath) }
                throw error
            }
            isCommitted = true
            if let earlier { try? calls.remove(path(of: RecordBodyName(name, earlier).text)) }
            stored(
                name, written.space, body: written.body == nil ? nil : written.facts.id,
                reservation: written.reservation)
        }
        return isCommitted
    }

    /// Makes room for a stored record. The caller does not have the lock of the directory.
    func finishCommit(of name: RecordName) {
        evict(sparing: name)
        sweepIfNeeded(sparing: name)
    }

    // MARK: Leases

    /// Reserves the loading of a key for this caller, so that the processes of a directory do not load it at the same
    /// time. A lease prevents no commit.
    ///
    /// - Parameters:
    ///   - duration: The time after which the lease ends by itself, at most one minute.
    ///   - now: The time since the start of the machine, which all processes measure alike.
    /// - Returns: `nil` if another caller has the lease.
    package func lease(_ key: RecordKey, for duration: Duration, now: Duration) throws(FileError) -> RecordLease? {
        try prepare()
        let lease = RecordLease(name: key.name)
        let start = now.wholeNanoseconds
        let length = min(max(duration.wholeNanoseconds, 0), RecordNumbers.longestLease)
        let isOurs = try locked { () throws(FileError) in
            try numbers.begin(lease, UInt64(clamping: start), until: UInt64(clamping: start) &+ UInt64(length))
        }
        return isOurs ? lease : nil
    }

    /// Ends a lease. It does nothing if another caller has the lease now.
    package func end(_ lease: RecordLease) throws(FileError) {
        try locked { () throws(FileError) in try numbers.end(lease) }
    }

    // MARK: Heads

    /// Replaces the head of a record, and keeps its body.
    ///
    /// - Returns: The record with the new head; `nil` if the record was removed or replaced meanwhile.
    package func replaceHead(of old: StoredRecord, by head: [UInt8]) throws(FileError) -> StoredRecord? {
        try open()
        guard head.count + old.key.count <= configuration.maximumHeadBytes else { throw FileError(code: EFBIG) }
        let (inline, file): (ArraySlice<UInt8>, RecordContent.BodyFile?) =
            switch old.body {
            case .inline(let bytes): (bytes, nil)
            case .file(let file): ([], RecordContent.BodyFile(size: file.size, checksums: file.checksums))
            }
        let facts = RecordFacts(
            id: old.id, begun: old.facts.begun, invalidation: old.facts.invalidation, hasFile: file != nil)
        let beginning = inline.withUnsafeBytes {
            RecordContent.beginning(facts, file, key: old.key, head: head, body: $0, format)
        }
        let written = try headFile(old.name, beginning, inline.span.bytes)
        let space = space(Int64(beginning.count + inline.count), file?.size)
        var isReplaced = false
        defer { if !isReplaced { written.abandon() } }
        try locked { () throws(FileError) in
            guard try outline(of: old.name)?.facts == old.facts, try allowsReading(old.name, begun: old.facts.begun),
                try isValid(old.name, since: old.facts.invalidation)
            else { return }
            try written.commit()
            isReplaced = true
            stored(old.name, space, body: file == nil ? nil : old.id, reservation: 0)
        }
        guard isReplaced else { return nil }
        // Only the head can have grown. Room is made for it now, because no space was reserved.
        finishCommit(of: old.name)
        return StoredRecord(name: old.name, key: old.key, head: head, body: old.body, facts: facts)
    }
}
