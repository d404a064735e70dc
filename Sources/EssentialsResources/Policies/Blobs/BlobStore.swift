import EssentialsHTTP
import FoundationEssentials
import Synchronization

/// The files of a ``BlobService``. It runs on a file thread.
///
/// A blob has two files: its bytes alone, so that a program can use the file as it is, and a record; see ``BlobRecord``.
/// The bytes are written under a temporary name and renamed, and then the record is. A process that is killed in between
/// leaves bytes without a record, which the next one removes. All changes of the directory and of what is reserved go
/// through this actor, one after another, so files are removed before the space is given to somebody else.
actor BlobStore {
    private let queue = FileQueue()
    private let directory: FileDirectory
    private let freshness: BlobFreshness
    /// What is in the directory. Blobs that are open are found in it without this actor.
    nonisolated let index: Mutex<BlobIndex>
    private var isOpened = false
    private let keyFile: FingerprintKeyFile
    /// What could not be removed.
    private var removals: RemovalNoteFile
    /// Whether all of that is written down, so that it is not read after a restart either.
    nonisolated let hasNoted = Atomic(true)

    /// The path of the directory.
    nonisolated var path: String { directory.path }
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    init(_ directory: FileDirectory, maximumBytes: Int, _ freshness: BlobFreshness) {
        (self.directory, self.freshness) = (directory, freshness)
        removals = RemovalNoteFile(directory)
        index = Mutex(BlobIndex(maximumBytes: maximumBytes))
        keyFile = FingerprintKeyFile(in: directory) { EntityFile.temporaryName() }
    }

    /// Why the key could not be read or written.
    nonisolated var keyProblems: CacheProblems { CacheProblems(of: keyFile) }

    /// The key for hashes of header fields. It is made when it is needed for the first time.
    func fingerprintKey() -> FingerprintKey { keyFile.key }

    var usage: BlobService.Usage {
        // What cannot be read is not there.
        try? open()
        return index.withLock { BlobService.Usage(count: $0.count, bytes: $0.bytes, damaged: $0.damaged) }
    }

    // MARK: Reading

    /// Opens a stored blob; `nil` if there is none, or if it is damaged. A blob that fits into memory is read and checked,
    /// and comes with its bytes.
    func load(_ key: EntityKey) throws(RequestFailure) -> (entry: BlobEntry, bytes: Data?)? {
        try open()
        let name = EntityFile.Name(key)
        removals.refresh()
        guard !removals.notes.contains(name), !index.withLock({ $0.isBarred(name) }) else { return nil }
        guard let found = try record(of: name) else { return nil }
        // Another key with the same hash.
        guard found.key == key else { return nil }
        let (record, body) = (found.record, BlobBodyName(name, found.record.generation))
        let opened = try onDirectory("could not be read") { () throws(SystemError) -> (OpenFile, FileStatus)? in
            guard let file = try directory.open(body.text) else { return nil }
            return (file, try file.status())
        }
        guard let (file, status) = opened else {
            try? drop(name)
            return nil
        }
        var bytes: Data?
        if record.size <= Int64(BlobSpool.memoryLimit), status.size == record.size {
            bytes = try onDirectory("could not be read") { () throws(SystemError) in
                try Self.bytes(of: file, count: Int(record.size))
            }
        }
        // Larger ones are checked piece by piece when they are read.
        let isWhole = bytes.map { PieceChecksums(of: $0) == record.checksums } ?? (record.size > BlobSpool.memoryLimit)
        guard status.size == record.size, isWhole else {
            try? drop(name)
            return nil
        }
        // Another process has stored it, and there is no room for it beside the blobs that are being written.
        do throws(RequestFailure) { try count(body, space: BlobIndex.space(record.size, found.size)) } catch {
            try? remove(name, also: record.generation)
        }
        return (
            BlobEntry(name, record, file, modified: status.modified, freshUntil: freshness.limit(of: record)), bytes
        )
    }

    /// The record of a blob; `nil` if there is none.
    private func record(
        of name: EntityFile.Name
    ) throws(RequestFailure) -> (key: EntityKey, record: BlobRecord, size: Int64)? {
        let content = try onDirectory("could not be read") { () throws(SystemError) in
            try directory.read(name.text, upTo: BlobRecord.maximumBytes)
        }
        switch content {
        case .missing:
            // Another process has removed it.
            try? remove(name)
        case .unfit: try? drop(name)
        case .bytes(let bytes):
            guard case .entity(let key, let stored) = EntityFile.content(of: bytes) else {
                try? drop(name)
                return nil
            }
            if let record = BlobRecord(stored: stored) { return (key, record, Int64(bytes.count)) }
            if BlobRecord.isOutdated(stored) { try? remove(name) } else { try? drop(name) }
        }
        return nil
    }

    /// The first bytes of a file; `nil` if it ends before.
    private static func bytes(of file: OpenFile, count: Int) throws(SystemError) -> Data? {
        guard count > 0 else { return Data() }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        let got: Int
        do throws(SystemError) {
            got = try file.read(into: memory, at: 0)
        } catch {
            memory.deallocate()
            throw error
        }
        return ResidentRead.adopt(memory, got == count)
    }

    // MARK: Writing

    /// Reserves space for a blob that is being written, which may remove others.
    ///
    /// - Throws: `tooLarge` if there is not so much space, beside the blobs that are being written.
    func reserve(_ bytes: Int) throws(RequestFailure) {
        try open()
        guard let removed = index.withLock({ $0.reserve(bytes) }) else {
            throw RequestFailure(
                .tooLarge,
                "There is no room for the blob in a directory of \(index.withLock { $0.maximumBytes }) bytes.",
                remedy: "Allow a larger directory, or fewer transfers at the same time.", phase: .receiving)
        }
        removeFiles(removed)
    }

    /// Gives space back that was reserved.
    func release(_ bytes: Int) { index.withLock { $0.release(bytes) } }

    /// An open file with the bytes of a blob that is not stored. It has no name.
    func temporaryFile(of bytes: Data) async throws(RequestFailure) -> CheckedFile {
        let space = BlobIndex.space(Int64(bytes.count))
        try reserve(space)
        defer { release(space) }
        let spool = try makeSpool()
        do throws(RequestFailure) {
            try await spool.write(bytes)
            return try await spool.detach()
        } catch {
            await spool.abandon()
            throw error
        }
    }

    /// Creates the temporary file of a blob that is received piece by piece.
    func makeSpool() throws(RequestFailure) -> BlobSpool {
        try open()
        let name = EntityFile.temporaryName()
        let file = try inDirectory { () throws(SystemError) in try directory.create(temporary: name) }
        return BlobSpool(directory, name, file)
    }

    /// Stores a blob that was in memory.
    ///
    /// - Parameter isWanted: Whether it is still to be stored, because nobody has removed it meanwhile.
    func store(
        _ bytes: Data, _ entity: StoredEntity, for key: EntityKey, if isWanted: () -> Bool
    ) throws(RequestFailure) -> BlobEntry? {
        try open()
        let record = BlobRecord(
            generation: .random(in: .min ... .max), size: Int64(bytes.count),
            checksums: PieceChecksums(of: bytes), entity: entity)
        let space = Self.space(of: record, key)
        try reserve(space)
        guard isWanted() else {
            release(space)
            return nil
        }
        do throws(RequestFailure) {
            return try commit(record, key, reservation: space) { name throws(SystemError) in
                try directory.write([], bytes, to: name, temporary: EntityFile.temporaryName())
            }
        } catch {
            release(space)
            throw error
        }
    }

    /// Stores a blob that is in a temporary file. Without success the file is left to the caller.
    ///
    /// - Parameter reservation: What was reserved for the bytes. The caller gives it back if this function throws or
    ///   returns `nil`.
    func store(
        _ spool: BlobSpool, size: Int64, _ checksums: PieceChecksums, _ entity: StoredEntity, for key: EntityKey,
        reservation: Int, if isWanted: () -> Bool
    ) throws(RequestFailure) -> BlobEntry? {
        let record = BlobRecord(
            generation: .random(in: .min ... .max), size: size, checksums: checksums, entity: entity)
        let missing = max(Self.space(of: record, key) - reservation, 0)
        try reserve(missing)
        guard isWanted() else {
            release(missing)
            return nil
        }
        do throws(RequestFailure) {
            return try commit(record, key, reservation: reservation + missing) { name throws(SystemError) in
                try directory.move(spool.name, to: name)
            }
        } catch {
            release(missing)
            throw error
        }
    }

    /// Puts the bytes and the record in place, and removes the bytes of an earlier response.
    private func commit(
        _ record: BlobRecord, _ key: EntityKey, reservation: Int, _ putBytes: (String) throws(SystemError) -> Void
    ) throws(RequestFailure) -> BlobEntry {
        let name = EntityFile.Name(key)
        // Nothing of an account is read whose removal could not even begin.
        if removals.notes.scopes.contains(where: { $0.contains(name) }) { try removeAll(in: nil) }
        let earlier = try generation(of: name)
        let body = BlobBodyName(name, record.generation)
        let opened = try inDirectory { () throws(SystemError) -> (OpenFile, FileStatus) in
            try putBytes(body.text)
            do throws(SystemError) {
                try write(record, for: key)
                guard let file = try directory.open(body.text) else { throw SystemError(code: 2) }
                return (file, try file.status())
            } catch {
                try? directory.remove(body.text)
                throw error
            }
        }
        if let earlier { try? directory.remove(BlobBodyName(name, earlier).text) }
        if removals.notes.names.contains(name) { note { $0.names.remove(name) } }
        let space = Self.space(of: record, key)
        removeFiles(index.withLock { $0.insert(body, space: space, reservation: reservation) })
        return BlobEntry(
            name, record, opened.0, modified: opened.1.modified, freshUntil: freshness.limit(of: record))
    }

    /// The generation of the bytes that a new response replaces, also if another process has stored them.
    private func generation(of name: EntityFile.Name) throws(RequestFailure) -> UInt64? {
        try record(of: name)?.record.generation ?? index.withLock { $0.generation(of: name) }
    }

    private func write(_ record: BlobRecord, for key: EntityKey) throws(SystemError) {
        let stored = record.stored
        try directory.write(
            EntityFile.head(of: stored, for: key), stored.body, to: EntityFile.Name(key).text,
            temporary: EntityFile.temporaryName())
    }

    /// Renews the head of a stored blob, because the server has confirmed it.
    ///
    /// - Returns: The renewed blob, also if its files have been removed meanwhile.
    func renew(
        _ entry: BlobEntry, for key: EntityKey, by confirmation: EntityConfirmation, if isWanted: () -> Bool
    ) throws(RequestFailure) -> BlobEntry {
        let record = entry.record.with(entry.record.entity.revalidated(by: confirmation))
        let renewed = entry.renewed(record, freshUntil: freshness.limit(of: record))
        let body = BlobBodyName(entry.name, record.generation)
        guard isWanted(), isStored(body) else { return renewed }
        // The old record and the new one exist at the same time for a moment.
        let space = BlobIndex.space(Self.size(of: record, key))
        try reserve(space)
        defer { release(space) }
        // Making room may have removed the blob itself.
        guard isStored(body) else { return renewed }
        try inDirectory { () throws(SystemError) in try write(record, for: key) }
        try count(body, space: Self.space(of: record, key))
        return renewed
    }

    private func isStored(_ body: BlobBodyName) -> Bool {
        index.withLock { $0.generation(of: body.name) } == body.generation
    }

    /// The size of a record.
    private static func size(of record: BlobRecord, _ key: EntityKey) -> Int64 {
        let stored = record.stored
        return Int64(EntityFile.head(of: stored, for: key).count + stored.body.count)
    }

    private static func space(of record: BlobRecord, _ key: EntityKey) -> Int {
        BlobIndex.space(record.size, size(of: record, key))
    }

    // MARK: Removing

    /// Removes a blob, if it is stored.
    func remove(_ key: EntityKey) throws(RequestFailure) {
        try open()
        let name = EntityFile.Name(key)
        let generation = try generation(of: name)
        try remove(name, also: generation)
    }

    /// Removes a blob whose bytes turned out to be damaged, unless another response has replaced it. The next use loads it
    /// again.
    func discard(_ entry: BlobEntry) {
        guard isStored(BlobBodyName(entry.name, entry.record.generation)) else { return }
        try? drop(entry.name)
    }

    /// Removes blobs that are barred, and ends the bar. Those that cannot be removed are written down, so that they are
    /// neither read by this process nor after a restart. If not even the directory can be used, they stay barred until the
    /// process ends.
    func removeAll(_ bar: BlobBar) throws(RequestFailure) {
        do throws(RequestFailure) {
            try open()
        } catch {
            hasNoted.store(false, ordering: .releasing)
            throw error
        }
        defer { index.withLock { $0.unbar(bar) } }
        try removeAll(in: RemovalNotes.Scope(partition: bar.account, origin: bar.origin))
    }

    /// Removes all blobs of a scope that can be removed, also those of other processes, and what could not be removed
    /// before.
    ///
    /// - Parameter scope: What is removed; `nil` means only what could not be removed before.
    /// - Throws: The first failure, after all others were removed. What is left is not found any more.
    func removeAll(in scope: RemovalNotes.Scope?) throws(RequestFailure) {
        try open()
        let isSelected = { (name: EntityFile.Name) in scope?.contains(name) ?? false }
        index.withLock { $0.removeAll(where: isSelected) }
        removals.refresh()
        let (texts, earlier): ([String], RemovalNotes)
        do throws(RequestFailure) {
            texts = try onDirectory("could not be read") { () throws(SystemError) in
                try directory.names(upTo: .max)
            }
            earlier = removals.notes
        } catch {
            // Nobody knows which ones they are.
            if let scope { note { $0.scopes.insert(scope) } }
            throw error
        }
        let files = texts.compactMap { text -> (text: String, name: EntityFile.Name)? in
            guard let name = EntityFile.Name(text) ?? BlobBodyName(text)?.name,
                isSelected(name) || earlier.contains(name)
            else { return nil }
            return (text, name)
        }
        // It is written down first, because the process can end between two of them.
        if let scope, files.contains(where: { isSelected($0.name) }) { note { $0.scopes.insert(scope) } }
        var (left, first): (Set<EntityFile.Name>, RequestFailure?) = ([], nil)
        for (text, name) in files {
            do throws(RequestFailure) {
                try onDirectory("could not be removed") { () throws(SystemError) in try directory.remove(text) }
            } catch {
                left.insert(name)
                if isSelected(name) { first = first ?? error }
            }
        }
        note { notes in
            notes.subtract(earlier)
            if let scope { notes.scopes.remove(scope) }
            notes.names.formUnion(left)
        }
        if let first { throw first }
        guard !files.isEmpty else { return }
        try onDirectory("could not be removed") { () throws(SystemError) in try directory.sync() }
    }

    /// Changes what is written down to be removed.
    private func note(_ change: (inout RemovalNotes) -> Void) {
        removals.change(change)
        hasNoted.store(removals.isWritten, ordering: .releasing)
    }

    private func remove(_ name: EntityFile.Name, also generation: UInt64? = nil) throws(RequestFailure) {
        let known = index.withLock { index in
            defer { index.remove(name) }
            return index.generation(of: name)
        }
        try onDirectory("could not be removed") { () throws(SystemError) in
            try directory.remove(name.text)
            for generation in Set([known, generation].compactMap { $0 }) {
                try directory.remove(BlobBodyName(name, generation).text)
            }
        }
    }

    private func drop(_ name: EntityFile.Name) throws(RequestFailure) {
        index.withLock { $0.damaged += 1 }
        try remove(name)
    }

    /// Removes files that the index does not count any more. Those that cannot be removed are found at the next start.
    private func removeFiles(_ bodies: [BlobBodyName]) {
        for body in bodies {
            try? directory.remove(body.name.text)
            try? directory.remove(body.text)
        }
    }

    private func count(_ body: BlobBodyName, space: Int) throws(RequestFailure) {
        let isNew = !isStored(body)
        if isNew { try reserve(space) }
        removeFiles(index.withLock { $0.insert(body, space: space, reservation: isNew ? space : 0) })
    }

    // MARK: The directory

    /// Creates the directory, removes what killed processes have left, and counts the files, once.
    private func open() throws(RequestFailure) {
        guard !isOpened else { return }
        let names = try onDirectory("could not be used for blobs") { () throws(SystemError) in
            try directory.make()
            return try directory.names(upTo: EntityFileStore.maximumFiles * 2)
        }
        isOpened = true
        removals.refresh()
        if !removals.notes.isEmpty { try? removeAll(in: nil) }
        for name in names where EntityFile.isTemporary(name) { directory.removeAbandoned(name) }
        var bodies: [EntityFile.Name: [BlobBodyName]] = [:]
        for body in names.compactMap({ BlobBodyName($0) }) { bodies[body.name, default: []].append(body) }
        var found: [(body: BlobBodyName, space: Int, used: FileStatus.Moment)] = []
        for name in names.compactMap({ EntityFile.Name($0) }) {
            guard let body = body(of: name, among: bodies[name] ?? []), let status = directory.status(of: name.text),
                let size = directory.status(of: body.text)?.size
            else {
                try? directory.remove(name.text)
                continue
            }
            bodies[name]?.removeAll { $0 == body }
            found.append((body, BlobIndex.space(size, status.size), status.modified))
        }
        // The record of bytes that are locked is about to be written by another process.
        for orphan in bodies.values.joined() { directory.removeAbandoned(orphan.text) }
        found.sort { $0.used.isBefore($1.used) }
        for (body, space, _) in found { removeFiles(index.withLock { $0.insert(body, space: space) }) }
    }

    /// The bytes that a record belongs to. It is only read if there are several.
    private func body(of name: EntityFile.Name, among bodies: [BlobBodyName]) -> BlobBodyName? {
        guard bodies.count > 1 else { return bodies.first }
        let generation = (try? record(of: name))?.record.generation
        return bodies.first { $0.generation == generation }
    }

    /// Creates the directory again if somebody has removed it.
    private func inDirectory<Value>(_ work: () throws(SystemError) -> Value) throws(RequestFailure) -> Value {
        try onDirectory("could not be written") { () throws(SystemError) in
            do throws(SystemError) {
                return try work()
            } catch {
                guard error.isMissing else { throw error }
                try directory.make()
                return try work()
            }
        }
    }

    private func onDirectory<Value>(
        _ what: String, _ work: () throws(SystemError) -> Value
    ) throws(RequestFailure) -> Value {
        try RequestFailure.onFile(directory.path, what, phase: .preparation, work)
    }
}

/// The time and the rules by which stored blobs are fresh.
struct BlobFreshness: Sendable {
    let clock: RequestClock
    /// How long a blob is fresh if the server says nothing.
    let expiration: Duration

    /// The last moment, by the monotonic clock, at which a blob is fresh; `nil` if it never is.
    func limit(of record: BlobRecord) -> Duration? {
        let (entity, now) = (record.entity, clock.date)
        let lifetime = Freshness.lifetime(of: entity.headerFields, receivedAt: entity.date)
        let outcome = PersistedTime(date: entity.date, age: entity.age)
            .content(readAt: clock.now, now: now, serverLifetime: lifetime)
        let rules = FreshnessRules(expiration: .byServer(otherwise: expiration), retryTime: .zero)
        return rules.deadline(of: outcome).flatMap { $0 >= clock.now ? $0 : nil }
    }
}
