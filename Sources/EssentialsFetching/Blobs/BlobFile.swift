import EssentialsHTTP
import EssentialsRequests
import EssentialsStorage
public import FoundationEssentials

/// A blob as an open file. Its bytes stay the same as long as the value is used, even if the blob is removed or
/// replaced meanwhile. It takes space on the disk until then.
///
/// ```swift
/// let file = try await blobs.file(at: film.url)
/// withExtendedLifetime(file) { player.open(path: file.path) }
/// ```
///
/// ``bytes(in:)`` finds each damaged byte by checksums. Reads through ``path`` or ``descriptor`` are not checked.
public struct BlobFile: Sendable {
    private let stored: StoredFile
    /// The number of bytes.
    public var size: Int64 { stored.file.size }
    /// The media type as the value of `Content-Type`; `nil` if the server sent none.
    public let mediaType: String?

    init(_ file: StoredFile, mediaType: String?) { (stored, self.mediaType) = (file, mediaType) }

    /// A path that opens the file for reading, in this process and as long as this value or a copy of it exists. It
    /// names the open file (`/proc/self/fd/…`), so it has no meaning in another process. Reads through it are not
    /// checked: a byte that the disk has damaged is not found.
    ///
    /// Keep the value until the path is opened, with `withExtendedLifetime`: after `blobs.file(at: url).path` alone the
    /// file is closed, and its number may already belong to another file.
    public var path: String { "/proc/self/fd/\(descriptor)" }

    /// The open descriptor, for reading by position. It is closed with the last copy of this value, so keep one as
    /// ``path`` says. Do not close it, and do not change its position, because other readers share it. Reads through it
    /// are not checked: a byte that the disk has damaged is not found.
    public var descriptor: Int32 { stored.file.file.descriptor }

    /// Reads bytes, on a thread for files unless the whole file is small and in the memory of the system.
    ///
    /// Each MiB of the file has a checksum. Every MiB that the range touches is read as a whole and checked before any
    /// of its bytes is returned, so a range of a few bytes costs as much as a MiB.
    ///
    /// - Parameter range: The positions. Positions after the end are left out.
    /// - Throws: `file` if the file cannot be read, is damaged, or was shortened. A stored blob is then removed, so
    ///   that the next call of ``BlobService/file(at:priority:)`` loads it again.
    public func bytes(in range: Range<Int64>) async throws(RequestFailure) -> Data {
        let range = range.clamped(to: 0..<max(size, 0))
        guard let lower = Int(exactly: range.lowerBound), let upper = Int(exactly: range.upperBound) else {
            throw BlobContent.tooLarge(size, Int.max)
        }
        return try await stored.bytes(in: lower..<upper)
    }
}
