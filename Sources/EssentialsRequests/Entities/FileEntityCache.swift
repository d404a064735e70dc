public import EssentialsHTTP
package import EssentialsStorage
import EssentialsTools

/// An entity cache in the files of a directory, up to a size. Entities that were not used lately are removed first.
///
/// ```swift
/// let cache = try FileEntityCache(directory: "/var/cache/shop", maximumBytes: 64 << 20)
/// let service = try HTTPResourceService(requests: requests, environment: environment, cache: cache)
/// ```
///
/// The directory is created when it is needed, for the user of the process only (mode 0700), as are the files (0600). One
/// that is a symbolic link, that belongs to another user or that others can write to is refused as a fault. The directory
/// should hold nothing else.
///
/// Each entity is a file, which is written under a temporary name and renamed, so a process that is killed leaves whole
/// entities. Files are not flushed to the disk, because a cache may be lost: after a power failure a checksum shows
/// which ones are damaged, and these are removed. Only ``removeAll(in:)`` flushes its removals; an entity that
/// ``remove(_:)`` has removed can come back after a power failure.
///
/// Several processes can use one directory. Each one counts all files at its first use, and again whenever it has
/// stored a quarter of the size. In between it knows only the files that it uses itself, so several processes together
/// can exceed the size for a while.
///
/// Entities that were not used since they were stored make room first, the oldest of them before the others, so that what
/// is read once does not displace what is used often.
///
/// Files of earlier versions of this library are never read, and the first use of the directory removes them.
///
/// What is stored can be read by everybody who can read the files; see ``EntitySealing``. All work on files happens on
/// threads for files.
public final class FileEntityCache: EntityCache {
    private let store: EntityFileStore
    private let keyFile: FingerprintKeyFile

    /// Describes the cache. Nothing is read or created yet.
    ///
    /// - Parameters:
    ///   - directory: The directory, which need not exist.
    ///   - maximumBytes: The size of all files on the disk. The default is 64 MiB.
    /// - Throws: `file` if the path is empty or contains a zero byte; `resources` if there is no thread for files.
    public convenience init(directory: String, maximumBytes: Int = 64 << 20) throws(RequestFailure) {
        try self.init(FileDirectory(directory), maximumBytes)
    }

    package init(_ directory: FileDirectory, _ maximumBytes: Int) throws(RequestFailure) {
        try FileThreads.shared.start()
        store = EntityFileStore(directory, maximumBytes: maximumBytes)
        keyFile = FingerprintKeyFile(in: directory, temporary: RecordDirectory.temporaryName)
    }

    /// A random key, which lies in a file of the directory (mode 0600) and is made at the first use.
    ///
    /// As long as the file can be neither read nor written, it is a key of this process: entities that environments with
    /// header fields store meanwhile are not found afterwards. Each use then tries again, on the calling thread.
    public var fingerprintKey: FingerprintKey { keyFile.key }

    /// The entity under a key, which counts as a use.
    ///
    /// - Throws: `file` if the file cannot be read. A damaged file is removed, and there is no entity then.
    public func entity(for key: EntityKey) async throws(RequestFailure) -> StoredEntity? {
        try await store.entity(for: key)
    }

    /// Stores an entity. One that is larger than the cache is not kept.
    ///
    /// - Throws: `file` if the file cannot be written, such as on a full disk. An earlier entity stays then.
    public func store(_ entity: StoredEntity, for key: EntityKey) async throws(RequestFailure) {
        try await store.store(entity, for: key)
    }

    /// Renews times and header fields. The file is written again.
    public func revalidated(_ key: EntityKey, by confirmation: EntityConfirmation) async throws(RequestFailure) {
        try await store.revalidated(key, by: confirmation)
    }

    /// Removes an entity. One that cannot be removed is not found any more; see ``removeAll(in:)``.
    public func remove(_ key: EntityKey) async throws(RequestFailure) { try await store.remove(key) }

    /// Removes all entities of a scope, also those of other processes. A partition and an origin are found by the names of
    /// the files; a scope with a condition on keys needs the keys in all of their files to be read.
    ///
    /// The removal is first written to the file `.removals`. An entity whose file cannot be removed is therefore not
    /// found any more, also by other processes and after a restart. The next start and each later removal try again to
    /// remove it. All other entities are stored and found as before. The file stays, because it also shows which
    /// entities are older than a removal. If it is lost, those entities are misses.
    ///
    /// - Throws: `file` if an entity could not be removed. Others are removed nevertheless.
    public func removeAll(in scope: EntityScope) async throws(RequestFailure) { try await store.removeAll(in: scope) }

    /// What is in the cache, as far as this process knows.
    public var usage: Usage { get async { await store.usage } }

    /// What is in a cache.
    public struct Usage: Sendable, Hashable {
        /// The number of entities.
        public let count: Int
        /// The size of their files on the disk.
        public let bytes: Int
        /// The number of damaged files that were removed.
        public let damaged: Int
    }
}

extension FileEntityCache: RemovalNoting {
    var storeName: String { store.path }
    package var hasNotedRemovals: Bool { store.hasNotedRemovals }
    package var ownProblems: CacheProblems { CacheProblems(of: keyFile) }
}
