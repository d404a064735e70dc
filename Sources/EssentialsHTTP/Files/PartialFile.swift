#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The partial file of a resumable download and its record. The file stays between attempts and is locked against other
/// downloads.
///
/// All calls can block, so they belong on a file thread. The last reference releases the lock.
struct PartialFile: Sendable {
    private static let recordLimit = 16 << 10

    let file: OpenFile
    private let path: String
    private let recordPath: String

    /// Opens or creates the partial file of a download and locks it.
    ///
    /// - Throws: `file` if another download has locked it, if it is a symbolic link, has another name or belongs to
    ///   another user, or if a system call fails.
    init(of place: DownloadPlace) throws(RequestFailure) {
        path = place.partial
        recordPath = place.record
        // A download that finishes may rename the file after it was opened and before it is locked. Then try again.
        for _ in 0..<16 {
            if let opened = try Self.open(path) {
                file = opened
                return
            }
        }
        throw Self.taken(path)
    }

    private static func open(_ path: String) throws(RequestFailure) -> OpenFile? {
        let (opened, status): (OpenFile, FileStatus)
        do throws(OwnFile.Refusal) {
            // The mode is that of the downloaded file, which the mask of the process decides.
            (opened, status) = try OwnFile.open(path, O_RDWR | O_CREAT, .oneName, mode: 0o666)
        } catch {
            throw failure(error, path)
        }
        guard opened.lock() else { throw taken(path) }
        guard let named = try? FileStatus(of: path, followsLink: false), named.identity == status.identity else {
            return nil
        }
        return opened
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

    private static func taken(_ path: String) -> RequestFailure {
        RequestFailure(
            .file, "Another download is writing to “\(RequestFailure.shownPath(path))”.",
            remedy: "Wait until it ends, or download to another path.")
    }

    /// The number of received bytes.
    func size() throws(SystemError) -> Int64 { try file.status().size }

    /// The record of the file's version; `nil` if it is missing or invalid.
    func record() -> ResumeRecord? {
        let limit = Int64(Self.recordLimit)
        guard let file = try? OwnFile.open(recordPath, O_RDONLY, .oneName, upTo: limit).file else { return nil }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.recordLimit, alignment: 1)
        defer { memory.deallocate() }
        guard let count = try? file.read(into: memory, at: 0) else { return nil }
        return ResumeRecord(text: String(decoding: memory.prefix(count), as: UTF8.self))
    }

    /// Discards all bytes and writes the record of the new ones, if there is one.
    ///
    /// The old record is removed first, so that it is never used for the new bytes.
    func begin(_ record: ResumeRecord?, _ calls: FileCalls) throws(SystemError) {
        try Self.remove(recordPath)
        try file.truncate(to: 0)
        guard let record, record.text.utf8.count <= Self.recordLimit else { return }
        let written = try OpenFile(recordPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        try BodyChunk(record.text.utf8).withUnsafeBytes { bytes throws(SystemError) in
            try calls.writeAll(bytes, to: written.descriptor)
        }
        let code = calls.sync(written.descriptor)
        guard code == 0 else { throw SystemError(code: code) }
    }

    /// Removes the record after the file was moved to its destination.
    func removeRecord() { unlink(recordPath) }

    /// Removes the partial file and its record.
    func remove() {
        unlink(recordPath)
        unlink(path)
    }

    /// Removes the partial file and its record if no attempt can resume it: it is empty, or it has no valid record.
    func removeIfUseless() {
        guard let size = try? size(), size > 0, record() != nil else { return remove() }
    }

    private static func remove(_ path: String) throws(SystemError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw SystemError.last }
    }
}
