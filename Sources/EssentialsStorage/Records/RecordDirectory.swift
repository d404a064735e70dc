import EssentialsTools

/// A directory of records that several processes use at the same time.
///
/// A record is a file with a key, a head and a small body. A larger body has its own file, and so has any body on
/// request. The files of a record are written under temporary names and renamed, the body before the head. If the
/// process is killed, the old record or the new one stays, and possibly a file that ``sweep()`` removes.
///
/// Only removals of scopes are flushed to the disk. After a loss of power, checksums show which records are damaged,
/// and these are removed. A record that ``invalidate(_:)`` has removed can then reappear.
///
/// All calls can block, so they belong on a file thread. Several threads may call at the same time.
package final class RecordDirectory: Sendable {
    /// The format and the limits of a directory.
    package struct Configuration: Sendable {
        /// The format of the files.
        package var mark: String
        package var version: UInt32
        /// The maximum size of all files, in whole blocks.
        package var maximumBytes: Int
        /// The maximum number of records.
        package var maximumCount = 100_000
        /// The maximum size of one record.
        package var maximumRecordBytes: Int
        /// The maximum size of a key and a head together.
        package var maximumHeadBytes = 1 << 20
        /// The maximum size of a body in the file of its record. With 0 every body has its own file, and a sweep knows
        /// without reading which body belongs to a record. With ``maximumRecordBytes`` no body has its own file.
        package var largestInlineBody = 64 << 10
        /// The maximum number of records under one key.
        package var recordsPerKey: UInt8 = 1
        /// Whether ``RecordDirectory/invalidate(_:)`` concerns the records of a key in all partitions. The default is
        /// `false`.
        package var invalidatesAllPartitions = false
        /// Whether a record is kept that fits alone but whose last block is beyond the maximum. The default is `true`.
        package var allowsLastBlockBeyond = true
        /// Whether a name in the directory belongs to a file of an earlier format, or to a temporary file that other
        /// code writes here. A sweep removes the file if no process has locked it.
        package var isOutdated: @Sendable (String) -> Bool = { _ in false }

        /// Whether bodies can have their own files.
        var hasBodyFiles: Bool { largestInlineBody < maximumRecordBytes }

        package init(mark: String, version: UInt32, maximumBytes: Int) {
            (self.mark, self.version) = (mark, version)
            // The upper limit keeps sums from overflowing.
            let maximumBytes = min(max(maximumBytes, 0), 1 << 60)
            (self.maximumBytes, maximumRecordBytes) = (maximumBytes, maximumBytes)
        }
    }

    /// The usage of a directory, as far as this process knows.
    package struct Usage: Sendable, Hashable {
        package var count: Int
        /// The size of the files in whole blocks.
        package var bytes: Int
        /// The number of damaged records that were removed.
        package var damaged: Int
    }

    struct State: Sendable {
        /// The maximum number of partitions and groups that are remembered.
        static let maximumScopes = 4_096

        var order = EvictionOrder<RecordName>()
        /// The partitions and groups of the records that were counted, if keys are invalidated in all partitions.
        var scopes: Set<RecordScope> = []
        /// Whether they are remembered.
        let remembersScopes: Bool
        /// The numbers of the bodies with their own files, as far as this process has seen them.
        var bodies: [RecordName: UInt64] = [:]
        /// The space for records that are being written.
        var reserved = 0
        /// The size of the records committed since the last sweep.
        var committed = 0
        var damaged = 0
        /// Whether the directory exists and was checked.
        var isPrepared = false
        /// Whether it is on a file system of this machine; see ``ResidentOpen/isLocal(_:)``.
        var isLocal = false
        /// Whether the records were counted, or read from an index.
        var isOpened = false
        /// The records that were counted or forgotten since the running sweep began. The sweep does not change how they
        /// are counted. `nil` means that no sweep runs.
        var changedInSweep: Set<RecordName>?
        var removals = KnownRemovals()
        /// Removals that could not be written. Their records are neither read nor committed.
        var unwritten = UnwrittenRemovals()
        /// The number of commits at which all records were counted; see ``KeyInvalidations``. `nil` if they were not.
        var completeAt: UInt64?
        /// The same for what the running sweep is going to count.
        var sweptAt: UInt64?

        init(remembersScopes: Bool) { self.remembersScopes = remembersScopes }

        /// Remembers the partition and the group of a record.
        mutating func noteScope(of name: RecordName) {
            guard remembersScopes else { return }
            // Those that are forgotten are merely removed later.
            if scopes.count >= Self.maximumScopes { scopes = [] }
            scopes.insert(RecordScope(partition: name.partition, group: name.group))
        }
    }

    /// Files take whole blocks on the disk.
    private static let blockSize = 4_096

    let configuration: Configuration
    let directory: FileDirectory
    let calls: FileCalls
    let format: RecordFormat
    let numbers: RecordNumbers
    let invalidations: KeyInvalidations
    let state: Mutex<State>
    /// Held by the one thread of this process that waits for the directory's lock or has it.
    private let turn = Mutex(())
    /// Held during an eviction, so that a writer uses space only after the evicted files have been removed.
    let evicting = Mutex(())

    /// The absolute path.
    package var path: String { directory.path }

    /// Describes a directory. Nothing is read or created yet.
    ///
    /// - Parameter path: An absolute path.
    package init(absolute path: String, _ configuration: Configuration, calls: FileCalls = .system) {
        (self.configuration, self.calls) = (configuration, calls)
        directory = FileDirectory(absolute: path, calls: calls)
        format = RecordFormat(
            mark: configuration.mark, version: configuration.version, partCount: RecordContent.partCount)
        numbers = RecordNumbers(directory.path(of: RecordNumbers.fileName), calls)
        state = Mutex(State(remembersScopes: configuration.invalidatesAllPartitions))
        invalidations = KeyInvalidations(directory.path(of: KeyInvalidations.fileName), calls)
    }

    package var usage: Usage {
        // If the directory cannot be opened, the present numbers are returned.
        try? open()
        return state.withLock { Usage(count: $0.order.count, bytes: $0.order.bytes, damaged: $0.damaged) }
    }

    /// The space for records that are being written.
    package var reserved: Int { state.withLock { $0.reserved } }

    /// Whether all removals are written, so that no removed record is read after a restart.
    package var hasNotedRemovals: Bool { state.withLock { $0.unwritten.isEmpty } }

    func path(of name: String) -> String { directory.path(of: name) }

    /// The size of a record on the disk.
    ///
    /// - Parameter body: The size of the file of its body, if it has one.
    func space(_ head: Int64, _ body: Int64?) -> Int {
        var (bytes, blocks) = (0, 0)
        for size in [head, body].compactMap({ $0 }) {
            let size = Int(clamping: max(min(size, 1 << 50), 1))
            bytes += size
            blocks += (size + Self.blockSize - 1) / Self.blockSize * Self.blockSize
        }
        return configuration.allowsLastBlockBeyond ? min(blocks, max(configuration.maximumBytes, bytes)) : blocks
    }

    /// The maximum size of a record's file.
    var maximumFile: Int {
        configuration.maximumHeadBytes + configuration.largestInlineBody + 4_096
            + 8 * PieceChecksums.count(for: min(Int64(configuration.maximumRecordBytes), PieceChecksums.maximumSize))
    }

    /// Runs work under the lock of the directory, so that no other process or thread changes its records meanwhile. A
    /// missing directory is created again. The work should be only a few system calls.
    func locked<Value: Sendable>(_ work: () throws(FileError) -> Value) throws(FileError) -> Value {
        try turn.withLock { _ throws(FileError) in
            let lock: FileLock
            do throws(FileError) {
                lock = try FileLock.wait(directory: path, .brief, calls: calls)
            } catch {
                guard error.isMissing else { throw error }
                try directory.make()
                lock = try FileLock.wait(directory: path, .brief, calls: calls)
            }
            defer { withExtendedLifetime(lock) {} }
            return try work()
        }
    }

    // MARK: Reading

    /// All records of a key in the order of their numbers, and the condition under which a response to a request that
    /// is sent now may be stored; see ``begin(_:isFile:if:)``. The condition is `nil` if nothing can be stored, for
    /// example on a full disk.
    ///
    /// This needs only names, so it does not count the records of the directory first. A caller that wants none of its
    /// calls to wait for that calls ``sweep()`` on another file thread before.
    package func lookup(
        _ key: RecordKey
    ) throws(FileError) -> (records: [StoredRecord], condition: RecordCondition?) {
        try prepare()
        // Read first, so that an invalidation that removes one of the records changes it.
        let condition = try? condition(for: key)
        return (try read(key), condition)
    }

    /// All records of a key, in the order of their numbers.
    package func records(for key: RecordKey) throws(FileError) -> [StoredRecord] {
        try open()
        return try read(key)
    }

    /// A record of a key; `nil` if it does not exist, or if a removal hides it. Reading it counts as a use. A damaged
    /// record is removed.
    package func record(for key: RecordKey, number: UInt8 = 0) throws(FileError) -> StoredRecord? {
        try open()
        return try read(key, number)
    }

    private func read(_ key: RecordKey) throws(FileError) -> [StoredRecord] {
        var records: [StoredRecord] = []
        for number in 0..<configuration.recordsPerKey {
            if let record = try read(key, number) { records.append(record) }
        }
        return records
    }

    private func read(_ key: RecordKey, _ number: UInt8) throws(FileError) -> StoredRecord? {
        guard let name = name(key, number) else { return nil }
        // If the body is missing, the record may have been replaced after its head was read, so it is read once more.
        for isLast in [false, true] {
            guard let content = try content(of: name) else { return nil }
            // The file can belong to another key with the same hash.
            guard content.key == key.bytes, try allowsReading(name, begun: content.facts.begun) else { return nil }
            guard try isValid(name, since: content.facts.invalidation) else {
                removeIfSame(name, content.facts)
                return nil
            }
            let id = content.facts.id
            func record(_ body: StoredRecord.Body) -> StoredRecord {
                StoredRecord(name: name, key: content.key, head: content.head, body: body, facts: content.facts)
            }
            guard let file = content.file else {
                used(name, space(content.size, nil), content.facts)
                return record(.inline(content.body))
            }
            if let opened = try open(RecordBodyName(name, id), size: file.size) {
                used(name, space(content.size, file.size), content.facts)
                return record(.file(CheckedFile(file: opened, size: file.size, checksums: file.checksums)))
            }
            if isLast { try? drop(name, id) }
        }
        return nil
    }

    /// The content of a record's file. A file that is damaged or does not belong to the program is removed.
    private func content(of name: RecordName) throws(FileError) -> RecordContent? {
        guard let bytes = try bytes(of: name) else {
            forgetMissing(name)
            return nil
        }
        if let content = RecordContent(bytes, format) { return content }
        try? drop(name, nil)
        return nil
    }

    /// The bytes of a record's file; `nil` if it does not exist. Its modification time becomes the time of this use.
    private func bytes(of name: RecordName) throws(FileError) -> [UInt8]? {
        switch try opened(name) {
        case .missing: return nil
        case .ofOthers: return []
        case .file(let file, let status):
            let bytes = try calls.bytes(of: file, count: Int(clamping: status.size))
            // A file system without modification times can still hold records.
            _ = futimens(file.descriptor, nil)
            return bytes
        }
    }

    private enum Opened {
        case missing
        case ofOthers
        case file(OpenFile, FileStatus)
    }

    private func opened(_ name: RecordName) throws(FileError) -> Opened {
        do throws(OwnFile.Refusal) {
            let (file, status) = try calls.openOwn(path(of: name.text), O_RDONLY, [], upTo: Int64(maximumFile))
            return .file(file, status)
        } catch {
            if error.isMissing { return .missing }
            guard error.isOfOthers else { throw error.fileError }
            return .ofOthers
        }
    }

    /// The present content, read without counting a use; `nil` if it does not exist or is damaged.
    func present(_ name: RecordName) throws(FileError) -> RecordContent? {
        guard case .file(let file, let status) = try opened(name) else { return nil }
        return RecordContent(try calls.bytes(of: file, count: Int(clamping: status.size)), format)
    }

    /// The unchecked beginning of a record's file; `nil` if the file does not exist.
    func outline(of name: RecordName) throws(FileError) -> RecordOutline? {
        guard case .file(let file, _) = try opened(name) else { return nil }
        return RecordOutline(try calls.bytes(of: file, count: RecordOutline.size(format)), format)
    }

    /// The unchecked key in a record's file; `nil` if the file does not exist.
    func storedKey(of name: RecordName) throws(FileError) -> [UInt8]? {
        guard case .file(let file, _) = try opened(name),
            let outline = RecordOutline(try calls.bytes(of: file, count: RecordOutline.size(format)), format),
            outline.key.count <= configuration.maximumHeadBytes
        else { return nil }
        let key = try calls.bytes(of: file, count: outline.key.count, at: Int64(outline.key.lowerBound))
        return key.count == outline.key.count ? key : nil
    }

    /// The number of the body that a record refers to; `nil` if it refers to none, or if the record does not exist.
    ///
    /// The beginning is not checked, so a damaged file can give a wrong number. The body of such a record cannot be
    /// read anyway.
    func bodyID(of name: RecordName) throws(FileError) -> UInt64? {
        guard let facts = try outline(of: name)?.facts, facts.hasFile else { return nil }
        return facts.id
    }

    /// The number of the body that is removed with a record. If the record's file is missing or cannot be read, it is
    /// the number that this process last saw.
    func lastBodyID(of name: RecordName) -> UInt64? {
        guard configuration.hasBodyFiles else { return nil }
        if let outline = try? outline(of: name) { return outline.facts.hasFile ? outline.facts.id : nil }
        return state.withLock { $0.bodies[name] }
    }

    /// Opens the file of a body; `nil` if there is no such file of that size.
    func open(_ name: RecordBodyName, size: Int64) throws(FileError) -> OpenFile? {
        do throws(OwnFile.Refusal) {
            let (file, status) = try calls.openOwn(path(of: name.text), O_RDONLY, [])
            return status.size == size ? file : nil
        } catch {
            if error.isMissing || error.isOfOthers { return nil }
            throw error.fileError
        }
    }

    // MARK: Damage

    /// Removes a record whose body proved to be damaged, unless another record has replaced it.
    package func discard(_ record: StoredRecord) { try? drop(record.name, record.id) }

    /// Removes a record, unless another record has replaced it or its head meanwhile.
    package func remove(_ record: StoredRecord) { removeIfSame(record.name, record.facts) }

    /// Removes a record if its body still has the number.
    ///
    /// - Parameter id: The number; `nil` removes the record only if its file is damaged or does not belong to the
    ///   program.
    private func drop(_ name: RecordName, _ id: UInt64?) throws(FileError) {
        let isDropped = try locked { () throws(FileError) -> Bool in
            if let content = try present(name) {
                guard content.facts.id == id else { return false }
            } else {
                // A file that was intact when it was read, or that is missing, is not the one to remove.
                guard id == nil, (try? calls.status(of: path(of: name.text))) != nil else { return false }
            }
            try removeFiles(of: name)
            return true
        }
        if isDropped { state.withLock { $0.damaged += 1 } }
    }
}
