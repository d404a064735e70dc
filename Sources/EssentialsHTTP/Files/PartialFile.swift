import EssentialsStorage
import EssentialsTools

/// The partial file of a resumable download and its record. The file stays between attempts and is locked against other
/// downloads.
///
/// All calls can block, so they belong on a file thread. The last reference releases the lock.
struct PartialFile: Sendable {
    private static let recordLimit = 16 << 10

    let file: OpenFile
    let path: String
    private let recordPath: String
    private let calls: FileCalls

    /// Opens or creates the partial file of a download and locks it.
    ///
    /// - Throws: `file` if another download has locked it, if it is a symbolic link, has another name or belongs to
    ///   another user, or if a system call fails.
    init(of place: DownloadPlace, _ calls: FileCalls) throws(RequestFailure) {
        path = place.partial
        recordPath = place.record
        self.calls = calls
        let lock: FileLock?
        do throws(OwnFile.Refusal) {
            // The mode is that of the downloaded file, which the mask of the process decides.
            lock = try FileLock.attempt(
                path, O_RDWR | O_CREAT, .oneName, mode: 0o666, withoutLocks: true, calls: calls)
        } catch {
            throw Self.failure(error, path)
        }
        guard let lock else {
            throw RequestFailure(
                .file, "Another download is writing to “\(RequestFailure.shownPath(path))”.",
                remedy: "Wait until it ends, or download to another path.")
        }
        file = lock.file
    }

    private static func failure(_ refusal: OwnFile.Refusal, _ path: String) -> RequestFailure {
        switch refusal {
        case .system(let error):
            .file(
                path, "could not be opened", error, missing: DownloadPlace.missingDirectory, phase: .preparation)
        case .notRegular: SentFile.notRegular(path, phase: .preparation)
        // In a shared directory, another user could have put a forged beginning of the file there.
        case .otherOwner, .otherUsers, .tooLarge:
            RequestFailure(
                .file, "“\(RequestFailure.shownPath(path))” belongs to another user.",
                remedy: "Have it removed, or download to a directory that only this user can write to.")
        case .otherNames(let count):
            RequestFailure(
                .file, "“\(RequestFailure.shownPath(path))” has \(count) names (hard links).",
                remedy: "Remove the other names, or download to another path.")
        }
    }

    /// The number of received bytes.
    func size() throws(FileError) -> Int64 { try file.status().size }

    /// The record of the file's version; `nil` if it is missing or invalid.
    func record() -> ResumeRecord? {
        let limit = Self.recordLimit
        guard let file = try? calls.openOwn(recordPath, O_RDONLY, .oneName, upTo: Int64(limit)).file,
            let bytes = try? calls.bytes(of: file, upTo: limit)
        else { return nil }
        return ResumeRecord(text: String(decoding: bytes, as: UTF8.self))
    }

    /// Discards all bytes and writes the record of the new ones, if there is one.
    ///
    /// The old record is removed first, so that it is never used for the new bytes.
    func begin(_ record: ResumeRecord?) throws(FileError) {
        try calls.remove(recordPath)
        try calls.truncate(file, to: 0)
        guard let record, record.text.utf8.count <= Self.recordLimit else { return }
        let written = try calls.open(recordPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        try calls.writeAll(Array(record.text.utf8).span.bytes, to: written)
        try calls.flush(written, isRequired: false)
    }

    /// Removes the record after the file was moved to its destination.
    func removeRecord() { try? calls.remove(recordPath) }

    /// Removes the partial file and its record.
    func remove() {
        removeRecord()
        try? calls.remove(path)
    }

    /// Removes the partial file and its record if no attempt can resume it: it is empty, or it has no valid record.
    func removeIfUseless() {
        guard let size = try? size(), size > 0, record() != nil else { return remove() }
    }
}
