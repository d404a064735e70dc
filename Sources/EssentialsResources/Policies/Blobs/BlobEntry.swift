import EssentialsHTTP
import FoundationEssentials

/// A stored blob whose file is open, so that it can be read even if its names are removed meanwhile.
final class BlobEntry: Sendable {
    let name: EntityFile.Name
    let record: BlobRecord
    let file: OpenFile
    /// The time of the file's last change when it was opened. Another time means that somebody has changed it.
    private let modified: FileStatus.Moment
    /// The last moment, by the monotonic clock, at which the blob is fresh; `nil` if it never is.
    private let freshUntil: Duration?

    init(
        _ name: EntityFile.Name, _ record: BlobRecord, _ file: OpenFile, modified: FileStatus.Moment,
        freshUntil: Duration?
    ) {
        (self.name, self.record, self.file) = (name, record, file)
        (self.modified, self.freshUntil) = (modified, freshUntil)
    }

    /// The same bytes with another head.
    func renewed(_ record: BlobRecord, freshUntil: Duration?) -> BlobEntry {
        BlobEntry(name, record, file, modified: modified, freshUntil: freshUntil)
    }

    var size: Int64 { record.size }
    /// The file, whose bytes are checked.
    var checked: CheckedFile { CheckedFile(file: file, size: record.size, checksums: record.checksums) }

    /// Whether the blob is used without asking the server.
    func isFresh(at now: Duration) -> Bool {
        guard let freshUntil else { return false }
        return now <= freshUntil
    }

    /// Whether the file still has its name, its size and its time of change.
    var isIntact: Bool {
        guard let status = try? file.status() else { return false }
        return status.linkCount > 0 && status.size == size && status.modified == modified
    }

    /// The bytes if they are few and in the memory of the system, so that reading them takes no time to speak of; otherwise
    /// `nil`.
    func residentBytes() -> Data? {
        guard size <= Int64(BlobSpool.memoryLimit) else { return nil }
        return ResidentRead.bytes(of: file, count: Int(size))
    }

    /// What askers get.
    var content: BlobContent {
        BlobContent(bytes: .file(checked), size: size, mediaType: record.entity.mediaType, entry: self)
    }
}

/// The bytes of a blob, on the way to those who have asked for them.
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

    /// All bytes, which were checked.
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
