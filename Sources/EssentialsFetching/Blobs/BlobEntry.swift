import EssentialsHTTP
import EssentialsRequests
import EssentialsStorage
import FoundationEssentials

/// A stored blob whose file is open, so that it can be read even if its names are removed meanwhile.
final class BlobEntry: Sendable {
    let record: StoredRecord
    /// The head of the response, without a body.
    let entity: StoredEntity
    /// The bytes, which are checked when they are read.
    let file: CheckedFile
    /// The time of the file's last change when it was opened. Another time means that the file was changed.
    private let modified: FileStatus.Moment
    /// The last moment, by the monotonic clock, at which the blob is fresh; `nil` if it never is.
    private let freshUntil: Duration?

    init(
        _ record: StoredRecord, _ entity: StoredEntity, _ file: CheckedFile, modified: FileStatus.Moment,
        freshUntil: Duration?
    ) {
        (self.record, self.entity, self.file) = (record, entity, file)
        (self.modified, self.freshUntil) = (modified, freshUntil)
    }

    /// The same bytes with another head.
    func renewed(_ record: StoredRecord, _ entity: StoredEntity, freshUntil: Duration?) -> BlobEntry {
        BlobEntry(record, entity, file, modified: modified, freshUntil: freshUntil)
    }

    var name: RecordName { record.name }
    var size: Int64 { file.size }

    /// Whether the blob may be used without contacting the server.
    func isFresh(at now: Duration) -> Bool {
        guard let freshUntil else { return false }
        return now <= freshUntil
    }

    /// Whether the file still has its name, its size and its time of change.
    var isIntact: Bool {
        guard let status = try? file.file.status() else { return false }
        return status.linkCount > 0 && status.size == size && status.modified == modified
    }

    /// The bytes, if they are few and in the memory of the system, so that reading them takes almost no time; otherwise
    /// `nil`.
    func residentBytes() -> Data? {
        guard size <= Int64(BlobSpool.memoryLimit) else { return nil }
        return ResidentRead.bytes(of: file.file, count: Int(size))
    }

    /// The content for the waiting callers.
    var content: BlobContent {
        BlobContent(bytes: .file(file), size: size, mediaType: entity.mediaType, entry: self)
    }
}

/// The bytes of a blob, in memory or in an open file, for the waiting callers.
struct BlobContent: Sendable {
    enum Bytes: Sendable {
        case memory(Data)
        case file(CheckedFile)
    }

    var bytes: Bytes
    let size: Int64
    let mediaType: String?
    /// The stored blob; `nil` if it was not stored.
    let entry: BlobEntry?

    /// All bytes, after they were checked.
    ///
    /// - Throws: `tooLarge` if there are more than the maximum; `file` if they cannot be read or are damaged.
    func data(upTo maximum: Int) async throws(RequestFailure) -> Data {
        guard size <= Int64(maximum), let count = Int(exactly: size) else { throw BlobContent.tooLarge(size, maximum) }
        switch bytes {
        case .memory(let data): return data
        case .file(let file): return try await FileReads().bytes(of: file, in: 0..<count)
        }
    }

    static func tooLarge(_ size: Int64?, _ maximum: some BinaryInteger) -> RequestFailure {
        let found = size.map { "has \($0) bytes" } ?? "is larger"
        return RequestFailure(
            .tooLarge, "The blob \(found); at most \(maximum) were allowed.",
            remedy: "Ask for it as a file, or allow more bytes.", phase: .receiving)
    }
}
