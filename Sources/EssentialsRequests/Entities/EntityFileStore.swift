import EssentialsHTTP
import EssentialsStorage
import FoundationEssentials

/// The files of a ``FileEntityCache``: records with the key, the head and the body of an entity. It runs on a file thread.
actor EntityFileStore {
    /// The maximum number of files that are counted.
    static let maximumFiles = 100_000
    /// The maximum size of a key.
    private static let maximumKey = 1 << 20

    private let queue = FileQueue()
    private let records: RecordDirectory

    /// The path of the directory.
    package nonisolated var path: String { records.path }
    /// Whether all removals are written down; see ``RecordDirectory/hasNotedRemovals``.
    package nonisolated var hasNotedRemovals: Bool { records.hasNotedRemovals }
    package nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    package init(_ directory: FileDirectory, maximumBytes: Int) {
        var configuration = RecordDirectory.Configuration(mark: "SEentity", version: 4, maximumBytes: maximumBytes)
        configuration.maximumCount = Self.maximumFiles
        configuration.maximumHeadBytes = Self.maximumKey + StoredEntity.maximumHead
        // An entity is one file.
        configuration.largestInlineBody = configuration.maximumRecordBytes
        configuration.isOutdated = Self.isOutdated
        records = RecordDirectory(absolute: directory.path, configuration, calls: directory.calls)
    }

    /// Whether a name is one of the files of earlier versions: `KEY-PARTITION-ORIGIN.entity`, or a temporary one.
    private static func isOutdated(_ name: String) -> Bool {
        if name.hasPrefix(".entity-"), name.hasSuffix(".tmp") { return true }
        guard name.hasSuffix(".entity"), name.utf8.count == 32 + 1 + 16 + 1 + 16 + 7 else { return false }
        return RecordName(name.dropLast(7) + "-00.record") != nil
    }

    package var usage: FileEntityCache.Usage {
        let usage = records.usage
        return FileEntityCache.Usage(count: usage.count, bytes: usage.bytes, damaged: usage.damaged)
    }

    package func entity(for key: EntityKey) throws(RequestFailure) -> StoredEntity? { try found(key)?.entity }

    private func found(_ key: EntityKey) throws(RequestFailure) -> (record: StoredRecord, entity: StoredEntity)? {
        try open()
        let record = try onDirectory("could not be read") { () throws(FileError) in
            try records.record(for: RecordKey(key))
        }
        guard let record else { return nil }
        guard case .inline(let body) = record.body,
            let entity = record.head.withUnsafeBytes({ StoredEntity(head: $0, body: Data(body)) })
        else {
            records.discard(record)
            return nil
        }
        return (record, entity)
    }

    package func store(_ entity: StoredEntity, for key: EntityKey) throws(RequestFailure) {
        try open()
        let (name, head) = (RecordKey(key), entity.head)
        guard head.count <= StoredEntity.maximumHead,
            records.canHold(name, head: head.count, body: entity.body.count)
        else { return try remove(name) }
        _ = try onDirectory("could not be written") { () throws(FileError) in
            try records.put(name, head: head, body: entity.body.span.bytes)
        }
    }

    package func revalidated(_ key: EntityKey, by confirmation: EntityConfirmation) throws(RequestFailure) {
        guard let (record, entity) = try found(key) else { return }
        let (name, head) = (RecordKey(key), entity.revalidated(by: confirmation).head)
        guard head != record.head else { return }
        guard head.count <= StoredEntity.maximumHead,
            records.canHold(name, head: head.count, body: entity.body.count)
        else { return try remove(name) }
        _ = try onDirectory("could not be written") { () throws(FileError) in
            try records.replaceHead(of: record, by: head)
        }
    }

    /// Removes an entity. If that fails, the removal is written down, so that the entity is not found any more.
    package func remove(_ key: EntityKey) throws(RequestFailure) { try remove(RecordKey(key)) }

    private func remove(_ name: RecordKey) throws(RequestFailure) {
        try onDirectory("could not be removed") { () throws(FileError) in try records.invalidate(name) }
    }

    /// Removes all entities of a scope that can be removed.
    ///
    /// - Throws: The first failure. Entities that could not be removed are not found any more.
    package func removeAll(in scope: EntityScope) throws(RequestFailure) {
        // A record whose key cannot be read is removed too.
        let isRemoved = { (bytes: [UInt8]) in
            bytes.withUnsafeBytes { EntityKey(bytes: $0) }.map { scope.contains($0) } ?? true
        }
        try onDirectory("could not be removed") { () throws(FileError) in
            try records.removeAll(in: RecordScope(scope), where: scope.matches == nil ? nil : isRemoved)
        }
    }

    /// Creates the directory and counts what is in it, once.
    private func open() throws(RequestFailure) {
        try onDirectory("could not be used as a cache") { () throws(FileError) in try records.open() }
    }

    private func onDirectory<Value>(
        _ what: String, _ work: () throws(FileError) -> Value
    ) throws(RequestFailure) -> Value {
        try RequestFailure.onFile(records.path, what, phase: .preparation, work)
    }
}
