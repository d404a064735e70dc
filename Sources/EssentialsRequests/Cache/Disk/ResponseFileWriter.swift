package import EssentialsStorage
package import EssentialsTransport
package import FoundationEssentials
import Glibc

/// Writes a body to a file of a ``FileCache``, at the pace of the disk. It runs on a file thread.
package actor ResponseFileWriter {
    /// Where the body is stored.
    struct Target: Sendable {
        let offer: OfferedChange
        let place: DiskResponseWriter.Target
        let condition: RecordCondition
    }

    private let queue = FileQueue()
    private let lane: DiskLane
    /// `nil` if the body is not stored.
    private let target: Target?
    /// `nil` after the end.
    private var writer: RecordWriter?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    init(_ writer: RecordWriter, _ target: Target?, on lane: DiskLane) {
        (self.writer, self.target, self.lane) = (writer, target, lane)
    }

    deinit {
        // Nothing refers to the writer, so no file thread works on it.
        writer?.abandon()
    }

    /// - Throws: `EFBIG` if there is no room beside the other files that are being written.
    package func write(_ bytes: Data) async throws(FileError) { try await write(BodyChunk(bytes)) }

    /// - Throws: `EFBIG` if there is no room beside the other files that are being written.
    package func write(_ chunk: BodyChunk) async throws(FileError) {
        do throws(FileError) {
            guard writer != nil else { throw FileError(code: EBADF) }
            try chunk.withUnsafeBytes { bytes throws(FileError) in try writer?.append(bytes) }
        } catch {
            await lane.note(error)
            throw error
        }
    }

    /// Opens the written bytes for reading.
    package func opened() throws(FileError) -> CheckedFile {
        guard let file = try writer?.opened() else { throw FileError(code: EBADF) }
        return file
    }

    /// Ends the file, and stores it if it was begun for a response.
    ///
    /// - Parameter isWanted: Whether it must still be stored.
    /// - Returns: The written bytes. If they were not stored, the file has no name, and takes space as long as it is used.
    package func finish(if isWanted: @Sendable () -> Bool) async throws(FileError) -> StoredFile {
        let file = try opened()
        guard let target, let written = writer, target.offer.isAllowed, isWanted() else {
            abandon()
            return StoredFile(file)
        }
        // The lane ends it, whatever comes of it.
        writer = nil
        let record = await lane.commit(written, target.place)
        return StoredFile(file, stored: record.map { ($0, lane) })
    }

    /// Removes the written bytes.
    package func abandon() {
        writer?.abandon()
        writer = nil
    }
}

/// The body of a response as an open file. Its bytes stay the same as long as the value is used, also if the response is
/// removed meanwhile.
package struct StoredFile: Sendable {
    package let file: CheckedFile
    /// Its record; `nil` if the response is not stored.
    private let stored: (record: StoredRecord, lane: DiskLane)?

    init(_ file: CheckedFile, stored: (record: StoredRecord, lane: DiskLane)?) {
        (self.file, self.stored) = (file, stored)
    }

    /// The file of a response that is not stored.
    package init(_ file: CheckedFile) { self.init(file, stored: nil) }

    /// Whether the response is stored.
    package var isStored: Bool { stored != nil }

    /// Removes the response, because its bytes turned out to be damaged, unless another one has replaced it.
    package func discard() async {
        if let stored { await stored.lane.discard(stored.record) }
    }
}
