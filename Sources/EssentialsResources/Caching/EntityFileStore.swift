import EssentialsHTTP
import FoundationEssentials
import Synchronization

/// The files of a ``FileEntityCache``. It runs on a file thread.
actor EntityFileStore {
    /// The maximum number of names that are read from the directory, and of files that are counted.
    static let maximumFiles = 100_000
    /// Files take whole blocks on the disk.
    private static let blockSize = 4_096
    /// The maximum size of a key that is read alone. A file with a larger one counts as damaged.
    private static let maximumKey = 1 << 20

    private let queue = FileQueue()
    private let directory: FileDirectory
    private let maximumBytes: Int
    private var files: LeastRecentlyUsed<EntityFile.Name, Void>
    /// What could not be removed.
    private var removals: RemovalNoteFile
    private var isOpened = false
    private var damaged = 0
    /// Whether all of that is written down.
    nonisolated let hasNoted = Atomic(true)

    /// The path of the directory.
    nonisolated var path: String { directory.path }
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    init(_ directory: FileDirectory, maximumBytes: Int) {
        self.directory = directory
        removals = RemovalNoteFile(directory)
        self.maximumBytes = max(maximumBytes, 0)
        files = LeastRecentlyUsed(maximumCount: Self.maximumFiles, maximumBytes: maximumBytes)
    }

    var usage: FileEntityCache.Usage {
        // What cannot be read is not in the cache.
        try? open()
        return FileEntityCache.Usage(count: files.count, bytes: files.bytes, damaged: damaged)
    }

    func entity(for key: EntityKey) throws(RequestFailure) -> StoredEntity? {
        try open()
        let name = EntityFile.Name(key)
        removals.refresh()
        guard !removals.notes.contains(name) else { return nil }
        let content = try onDirectory("could not be read") { () throws(SystemError) in
            try directory.read(name.text, upTo: maximumBytes)
        }
        switch content {
        case .missing:
            files.remove(name)
            return nil
        case .unfit:
            try? drop(name)
            return nil
        case .bytes(let bytes):
            guard case .entity(let found, let entity) = EntityFile.content(of: bytes) else {
                try? drop(name)
                return nil
            }
            // A cache that cannot be changed can still be read.
            try? count(name, bytes.count)
            // Another key with the same hash.
            return found == key ? entity : nil
        }
    }

    func store(_ entity: StoredEntity, for key: EntityKey) throws(RequestFailure) {
        try open()
        let name = EntityFile.Name(key)
        let head = EntityFile.head(of: entity, for: key)
        let size = head.count + entity.body.count
        guard size <= maximumBytes, entity.head.count <= StoredEntity.maximumHead else {
            return try remove(name)
        }
        // Nothing of an account is found whose removal could not even begin.
        if removals.notes.scopes.contains(where: { $0.contains(name) }) { try finishRemovals() }
        try onDirectory("could not be written") { () throws(SystemError) in
            do throws(SystemError) {
                try write(head, entity.body, name)
            } catch {
                // Somebody has removed the directory.
                guard error.isMissing else { throw error }
                try directory.make()
                try write(head, entity.body, name)
            }
        }
        noteStored(name)
        try count(name, size)
    }

    func revalidated(_ key: EntityKey, by confirmation: EntityConfirmation) throws(RequestFailure) {
        guard let entity = try entity(for: key) else { return }
        try store(entity.revalidated(by: confirmation), for: key)
    }

    /// Removes an entity. If that fails, it is written down, so that the entity is not found any more.
    func remove(_ key: EntityKey) throws(RequestFailure) {
        let name = EntityFile.Name(key)
        do throws(RequestFailure) {
            try remove(name)
        } catch {
            note { $0.names.insert(name) }
            throw error
        }
        noteStored(name)
    }

    /// Removes all entities of a scope that can be removed.
    ///
    /// - Throws: The first failure, after all others were removed. What is left is not found any more.
    func removeAll(in scope: EntityScope) throws(RequestFailure) {
        do throws(RequestFailure) {
            try open()
        } catch {
            hasNoted.store(false, ordering: .releasing)
            throw error
        }
        let noted = RemovalNotes.Scope(
            partition: scope.partition.map { EntityFile.Name.hash($0.name) },
            origin: scope.origin.map { EntityFile.Name.hash($0) })
        removals.refresh()
        let (present, earlier): ([EntityFile.Name], RemovalNotes)
        do throws(RequestFailure) {
            (present, earlier) = (try self.names(), removals.notes)
        } catch {
            // Nobody knows which ones they are.
            note { $0.scopes.insert(noted) }
            throw error
        }
        let names = present.filter { noted.contains($0) && isContained($0, in: scope) }
        // It is written down first, because the process can end between two of them.
        if !names.isEmpty {
            note { notes in
                if scope.matches == nil { notes.scopes.insert(noted) } else { notes.names.formUnion(names) }
            }
        }
        let (left, failure) = removeAll(names)
        // What could not be removed before is tried again.
        let (again, _) = removeAll(present.filter { earlier.contains($0) && !names.contains($0) })
        note { notes in
            notes.subtract(earlier)
            notes.scopes.remove(noted)
            notes.names.subtract(names)
            notes.names.formUnion(left + again)
        }
        if let failure { throw failure }
        guard !names.isEmpty else { return }
        try onDirectory("could not be written") { () throws(SystemError) in try directory.sync() }
    }

    /// Removes files.
    ///
    /// - Returns: Those that could not be removed, and why the first one could not.
    private func removeAll(_ names: [EntityFile.Name]) -> (left: [EntityFile.Name], failure: RequestFailure?) {
        var (left, first): ([EntityFile.Name], RequestFailure?) = ([], nil)
        for name in names {
            do throws(RequestFailure) {
                try remove(name)
            } catch {
                left.append(name)
                first = first ?? error
            }
        }
        return (left, first)
    }

    /// The files of the directory.
    private func names() throws(RequestFailure) -> [EntityFile.Name] {
        let names = try onDirectory("could not be read") { () throws(SystemError) in
            try directory.names(upTo: .max)
        }
        return names.compactMap { EntityFile.Name($0) }
    }

    /// Whether the entity of a file belongs to a scope of its partition and origin. What cannot be read does.
    private func isContained(_ name: EntityFile.Name, in scope: EntityScope) -> Bool {
        guard scope.matches != nil, let key = key(of: name) else { return true }
        return scope.contains(key)
    }

    /// The key of the entity in a file, of which no more is read; `nil` if it cannot be read.
    private func key(of name: EntityFile.Name) -> EntityKey? {
        guard let file = try? directory.open(name.text) else { return nil }
        var head = [UInt8](repeating: 0, count: EntityFile.headerSize)
        let count = head.withUnsafeMutableBytes { (try? file.read(into: $0, at: 0)) ?? 0 }
        guard count == head.count, let size = EntityFile.keySize(of: head), size <= Self.maximumKey else { return nil }
        var bytes = [UInt8](repeating: 0, count: size)
        let length = bytes.withUnsafeMutableBytes { (try? file.read(into: $0, at: Int64(head.count))) ?? 0 }
        guard length == size else { return nil }
        return bytes.withUnsafeBytes { EntityKey(bytes: $0) }
    }

    // MARK: What could not be removed

    /// Changes what is written down to be removed.
    private func note(_ change: (inout RemovalNotes) -> Void) {
        removals.change(change)
        hasNoted.store(removals.isWritten, ordering: .releasing)
    }

    /// Takes note that a file is a new one, or gone.
    private func noteStored(_ name: EntityFile.Name) {
        guard removals.notes.names.contains(name) else { return }
        note { $0.names.remove(name) }
    }

    /// Removes what is written down and was not removed, by an earlier process or by this one.
    ///
    /// - Throws: `file` if the directory cannot be read.
    private func finishRemovals() throws(RequestFailure) {
        removals.refresh()
        let earlier = removals.notes
        guard !earlier.isEmpty else { return }
        let (left, _) = removeAll(try names().filter { earlier.contains($0) })
        note { notes in
            notes.subtract(earlier)
            notes.names.formUnion(left)
        }
    }

    // MARK: Files

    /// Creates the directory, removes what killed processes have left, and counts the files, once.
    private func open() throws(RequestFailure) {
        guard !isOpened else { return }
        let names = try onDirectory("could not be used as a cache") { () throws(SystemError) in
            try directory.make()
            return try directory.names(upTo: Self.maximumFiles)
        }
        isOpened = true
        try? finishRemovals()
        var found: [(name: EntityFile.Name, status: FileStatus)] = []
        for text in names {
            if EntityFile.isTemporary(text) {
                directory.removeAbandoned(text)
            } else if let name = EntityFile.Name(text), let status = directory.status(of: text) {
                found.append((name, status))
            }
        }
        found.sort { $0.status.modified.isBefore($1.status.modified) }
        for (name, status) in found { try? count(name, Int(clamping: status.size)) }
    }

    private func write(_ head: [UInt8], _ body: Data, _ name: EntityFile.Name) throws(SystemError) {
        try directory.write(head, body, to: name.text, temporary: EntityFile.temporaryName())
    }

    /// Counts a file as the one that was used last, and removes those that are too many.
    private func count(_ name: EntityFile.Name, _ size: Int) throws(RequestFailure) {
        let blocks = (max(min(size, 1 << 50), 1) + Self.blockSize - 1) / Self.blockSize
        // A file that fits alone is kept, even if its last block is beyond the size.
        let bytes = min(blocks * Self.blockSize, max(maximumBytes, size))
        for evicted in files.insert((), for: name, bytes: bytes) { try remove(evicted) }
    }

    private func remove(_ name: EntityFile.Name) throws(RequestFailure) {
        files.remove(name)
        try onDirectory("could not be removed") { () throws(SystemError) in try directory.remove(name.text) }
    }

    private func drop(_ name: EntityFile.Name) throws(RequestFailure) {
        damaged += 1
        try remove(name)
    }

    private func onDirectory<Value>(
        _ what: String, _ work: () throws(SystemError) -> Value
    ) throws(RequestFailure) -> Value {
        try RequestFailure.onFile(directory.path, what, phase: .preparation, work)
    }
}
