import EssentialsHTTP
import FoundationEssentials

/// The files of a ``FileEntityCache``. It runs on a file thread.
actor EntityFileStore {
    /// The maximum number of names that are read from the directory, and of files that are counted.
    static let maximumFiles = 100_000
    /// Files take whole blocks on the disk.
    private static let blockSize = 4_096

    private let queue = FileQueue()
    private let directory: FileDirectory
    private let maximumBytes: Int
    private var files: LeastRecentlyUsed<EntityFile.Name, Void>
    private var isOpened = false
    private var damaged = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    init(_ directory: FileDirectory, maximumBytes: Int) {
        self.directory = directory
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
        try count(name, size)
    }

    func revalidated(_ key: EntityKey, by confirmation: EntityConfirmation) throws(RequestFailure) {
        guard let entity = try entity(for: key) else { return }
        try store(entity.revalidated(by: confirmation), for: key)
    }

    func remove(_ key: EntityKey) throws(RequestFailure) {
        try remove(EntityFile.Name(key))
    }

    func removeAll(in scope: EntityScope) throws(RequestFailure) {
        try open()
        let partition = scope.partition.map { EntityFile.Name.hash($0.name) }
        let origin = scope.origin.map { EntityFile.Name.hash($0) }
        let names = try onDirectory("could not be read") { () throws(SystemError) in
            try directory.names(upTo: .max)
        }
        for text in names {
            guard let name = EntityFile.Name(text) else { continue }
            if let partition, name.partition != partition { continue }
            if let origin, name.origin != origin { continue }
            if scope.matches != nil, try !isContained(name, in: scope) { continue }
            try remove(name)
        }
        try onDirectory("could not be written") { () throws(SystemError) in try directory.sync() }
    }

    /// Whether the entity of a file belongs to a scope. What cannot be read does.
    private func isContained(_ name: EntityFile.Name, in scope: EntityScope) throws(RequestFailure) -> Bool {
        let content = try onDirectory("could not be read") { () throws(SystemError) in
            try directory.read(name.text, upTo: maximumBytes)
        }
        guard case .bytes(let bytes) = content, case .entity(let key, _) = EntityFile.content(of: bytes) else {
            return true
        }
        return scope.contains(key)
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
