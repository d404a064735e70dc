import EssentialsHTTP
import EssentialsRequests
import EssentialsStorage

/// How blobs are stored as records of a directory: the head of a record is that of the response, and its body is a file with
/// the bytes of the blob alone.
enum BlobRecord {
    /// The stage in the keys of blobs.
    static let stage = "blob"
    private static let version: UInt32 = 2

    static func configuration(
        maximumBytes: Int, onForget: @escaping @Sendable (RecordName) -> Void
    ) -> RecordDirectory.Configuration {
        var configuration = RecordDirectory.Configuration(
            mark: "SEblob", version: version, maximumBytes: maximumBytes)
        configuration.maximumHeadBytes = StoredEntity.maximumHead + 2 * ResourceURL.maximumBytes
        configuration.largestInlineBody = 0
        configuration.allowsLastBlockBeyond = false
        configuration.isOutdated = isOutdated
        configuration.onForget = onForget
        return configuration
    }

    /// The blobs of an origin that belong to an account.
    static func scope(of origin: Origin, _ account: EntityPartition) -> RecordScope {
        RecordScope(partition: EntityHashes.hash(account.name), group: EntityHashes.hash(origin.description))
    }

    /// Whether a name is that of a file of the first formats, in which a blob had a file `….entity` for its head and a file
    /// `….body`.
    static func isOutdated(_ name: String) -> Bool {
        if name.hasPrefix(".entity-") && name.hasSuffix(".tmp") { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return false }
        let numbers = parts[0].split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count)
        return (parts[1] == "entity" && numbers == [32, 16, 16]) || (parts[1] == "body" && numbers == [32, 16, 16, 16])
    }
}
