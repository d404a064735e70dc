import EssentialsHTTP
import EssentialsRequests
import EssentialsStorage
import FoundationEssentials

/// The temporary file of a blob that is too large to be collected in memory. It runs on a file thread.
actor BlobSpool {
    /// The size up to which a blob is collected in memory before anything is written.
    static let memoryLimit = 1 << 20

    private let queue = FileQueue()
    private let store: BlobStore
    private var writer: RecordWriter

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    init(_ store: BlobStore, _ writer: RecordWriter) { (self.store, self.writer) = (store, writer) }

    /// - Throws: `tooLarge` if there is no room beside the other blobs that are being written.
    func write(_ bytes: Data) throws(RequestFailure) {
        try onFile { () throws(FileError) in try writer.append(bytes.span.bytes) }
    }

    /// - Throws: `tooLarge` if there is no room beside the other blobs that are being written.
    func write(_ chunk: BodyChunk) throws(RequestFailure) {
        try onFile { () throws(FileError) in
            try chunk.withUnsafeBytes { bytes throws(FileError) in try writer.append(bytes) }
        }
    }

    /// Opens the written bytes for reading.
    func opened() throws(RequestFailure) -> CheckedFile {
        try onFile { () throws(FileError) in try writer.opened() }
    }

    /// Stores the written bytes.
    ///
    /// - Parameter isWanted: Whether they must still be stored; `false` if the blob was removed meanwhile.
    /// - Returns: The blob if it was stored, and the written bytes as a file. If it was not stored, the file has no
    ///   name, and takes space as long as it is used.
    func store(
        _ entity: StoredEntity, if isWanted: () -> Bool
    ) throws(RequestFailure) -> (entry: BlobEntry?, file: CheckedFile) {
        try onFile { () throws(FileError) in
            let file = try writer.opened()
            defer { writer.abandon() }
            guard isWanted(), let record = try writer.commit(head: entity.head) else { return (nil, file) }
            return (try? store.entry(of: record), file)
        }
    }

    /// Removes the written bytes.
    func abandon() { writer.abandon() }

    private func onFile<Value>(_ work: () throws(FileError) -> Value) throws(RequestFailure) -> Value {
        try store.onDirectory("could not be written", .receiving, work)
    }
}
