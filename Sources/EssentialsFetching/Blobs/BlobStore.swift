import EssentialsHTTP
import EssentialsRequests
import EssentialsStorage
import EssentialsTools
import FoundationEssentials

/// The files of a ``BlobService``: records of a directory, whose bodies are files with the bytes alone, so that a
/// program can use them as they are; see ``BlobRecord``. It runs on a file thread.
actor BlobStore {
    private let queue = FileQueue()
    nonisolated let records: RecordDirectory
    /// Blobs that are open are found without this actor.
    nonisolated let open: OpenBlobs
    private nonisolated let maximumBytes: Int
    private nonisolated let freshness: BlobFreshness
    private let keyFile: FingerprintKeyFile

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    init(_ directory: FileDirectory, maximumBytes: Int, _ freshness: BlobFreshness) {
        let open = OpenBlobs()
        (self.maximumBytes, self.freshness, self.open) = (maximumBytes, freshness, open)
        // After a blob has left the directory, it takes space on the disk only as long as a program uses it.
        let configuration = BlobRecord.configuration(maximumBytes: maximumBytes) { name in open.close { $0 == name } }
        records = RecordDirectory(absolute: directory.path, configuration, calls: directory.calls)
        keyFile = FingerprintKeyFile(in: directory) { RecordDirectory.temporaryName() }
    }

    /// Why the key could not be read or written.
    nonisolated var keyProblems: CacheProblems { CacheProblems(of: keyFile) }

    /// The key for hashes of header fields. It is made when it is needed for the first time.
    func fingerprintKey() -> FingerprintKey { keyFile.key }

    var usage: BlobService.Usage {
        let usage = records.usage
        return BlobService.Usage(count: usage.count, bytes: usage.bytes, damaged: usage.damaged)
    }

    // MARK: Open blobs

    /// The open blob for a text. This counts as a use.
    nonisolated func openEntry(for text: String, in place: UInt64) -> BlobEntry? {
        guard let entry = open.entry(for: text, in: place) else { return nil }
        records.use(entry.name)
        return entry
    }

    /// Keeps a blob open for a text, if it is stored.
    nonisolated func keepOpen(_ entry: BlobEntry, for text: String, in place: UInt64) {
        open.insert(entry, for: text, in: place)
        // This is checked afterwards, because the blob may leave the directory at the same time.
        if !records.isKnown(entry.record) { open.close { $0 == entry.name } }
    }

    // MARK: Reading

    /// Opens a stored blob; `nil` if there is none, or if it is damaged. A blob that fits into memory is read and
    /// checked, and its bytes are returned too.
    func load(_ key: EntityKey) throws(RequestFailure) -> (entry: BlobEntry, bytes: Data?)? {
        let key = RecordKey(key)
        guard !open.isBarred(key.name) else { return nil }
        return try onDirectory("could not be read") { () throws(FileError) -> (entry: BlobEntry, bytes: Data?)? in
            guard let record = try records.record(for: key) else { return nil }
            if let entry = try entry(of: record) {
                // Larger ones are checked piece by piece when they are read.
                guard entry.size <= Int64(BlobSpool.memoryLimit) else { return (entry, nil) }
                if let bytes = try entry.file.bytes(in: 0..<Int(entry.size)) { return (entry, bytes) }
            }
            records.discard(record)
            return nil
        }
    }

    /// A stored blob; `nil` if its record is damaged.
    nonisolated func entry(of record: StoredRecord) throws(FileError) -> BlobEntry? {
        let entity = record.head.withUnsafeBytes { StoredEntity(head: $0, body: Data()) }
        guard case .file(let file) = record.body, let entity else { return nil }
        return BlobEntry(
            record, entity, file, modified: try file.file.status().modified, freshUntil: freshness.limit(of: entity))
    }

    // MARK: Writing

    /// An open file with the bytes of a blob that is not stored. It has no name.
    func temporaryFile(of bytes: Data, _ name: RecordName) throws(RequestFailure) -> CheckedFile {
        try onDirectory("could not be written") { () throws(FileError) in
            var writer = try records.begin(RecordKey(name, []))
            defer { writer.abandon() }
            try writer.append(bytes.span.bytes)
            return try writer.detach()
        }
    }

    /// Creates the temporary file of a blob that is received piece by piece.
    func makeSpool(_ key: EntityKey) throws(RequestFailure) -> BlobSpool {
        let writer = try onDirectory("could not be written") { () throws(FileError) in
            try records.begin(RecordKey(key))
        }
        return BlobSpool(self, writer)
    }

    /// Stores a blob that was in memory.
    ///
    /// - Parameter isWanted: Whether it must still be stored; `false` if it was removed meanwhile.
    func store(
        _ bytes: Data, _ entity: StoredEntity, for key: EntityKey, if isWanted: () -> Bool
    ) throws(RequestFailure) -> BlobEntry? {
        try onDirectory("could not be written") { () throws(FileError) in
            // After this call a removal prevents the blob from being stored.
            var writer = try records.begin(RecordKey(key))
            defer { writer.abandon() }
            try writer.append(bytes.span.bytes)
            guard isWanted(), let record = try writer.commit(head: entity.head) else { return nil }
            return try entry(of: record)
        }
    }

    /// Renews the head of a stored blob, because the server has confirmed it.
    ///
    /// - Returns: The renewed blob, even if its files were removed meanwhile.
    func renew(
        _ entry: BlobEntry, by confirmation: EntityConfirmation, if isWanted: () -> Bool
    ) throws(RequestFailure) -> BlobEntry {
        let entity = entry.entity.revalidated(by: confirmation)
        let record = try onDirectory("could not be written") { () throws(FileError) in
            isWanted() ? try records.replaceHead(of: entry.record, by: entity.head) : nil
        }
        return entry.renewed(record ?? entry.record, entity, freshUntil: freshness.limit(of: entity))
    }

    // MARK: Removing

    /// Removes a blob, if it is stored.
    func remove(_ key: EntityKey) throws(RequestFailure) {
        try onDirectory("could not be removed") { () throws(FileError) in
            try records.invalidate(RecordKey(key))
        }
    }

    /// Removes a blob whose bytes turned out to be damaged, unless another response has replaced it. The next use loads
    /// it again.
    func discard(_ entry: BlobEntry) { records.discard(entry.record) }

    /// Removes all blobs of a scope, including those of other processes. Blobs that cannot be removed are recorded, so
    /// that they are not read any more, not even after a restart. If they cannot be recorded either, only this process
    /// does not read them.
    ///
    /// - Parameter isBarred: Whether the blobs are barred. The bar ends with this call.
    /// - Throws: The first failure. Other blobs are removed nevertheless.
    func removeAll(in scope: RecordScope, isBarred: Bool = false) throws(RequestFailure) {
        defer { if isBarred { open.unbar(scope) } }
        open.close { scope.contains($0) }
        try onDirectory("could not be removed") { () throws(FileError) in try records.removeAll(in: scope) }
    }

    /// Does work on the directory, which may be full.
    nonisolated func onDirectory<Value>(
        _ what: String, _ phase: RequestFailure.Phase = .preparation, _ work: () throws(FileError) -> Value
    ) throws(RequestFailure) -> Value {
        do throws(FileError) {
            return try work()
        } catch {
            guard error.isTooLarge else { throw .file(records.path, what, error, phase: phase) }
            throw RequestFailure(
                .tooLarge, "There is no room for the blob in a directory of \(maximumBytes) bytes.",
                remedy: "Allow a larger directory, or fewer transfers at the same time.", phase: .receiving)
        }
    }
}

/// The clock and the rules for the freshness of stored blobs.
struct BlobFreshness: Sendable {
    let clock: RequestClock
    /// How long a blob is fresh if the server gives no lifetime.
    let expiration: Duration

    /// The last moment, by the monotonic clock, at which a blob is fresh; `nil` if it never is.
    func limit(of entity: StoredEntity) -> Duration? {
        let now = clock.date
        let lifetime = Freshness.lifetime(of: entity.headerFields, receivedAt: entity.date)
        let outcome = PersistedTime(date: entity.date, age: entity.age)
            .content(readAt: clock.now, now: now, serverLifetime: lifetime)
        let rules = FreshnessRules(expiration: .byServer(otherwise: expiration), retryTime: .zero)
        return rules.deadline(of: outcome).flatMap { $0 >= clock.now ? $0 : nil }
    }
}
