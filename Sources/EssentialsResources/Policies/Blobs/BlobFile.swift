public import EssentialsHTTP
public import FoundationEssentials

/// A blob as an open file, whose bytes stay as they are as long as the value is used: also if the blob is removed or
/// replaced meanwhile. It takes its space on the disk until then.
///
/// ```swift
/// let film = try await blobs.file(at: film.url)
/// player.open(path: film.path)
/// ```
public struct BlobFile: Sendable {
    private let file: OpenFile
    /// The number of bytes.
    public let size: Int64
    /// The media type as the value of `Content-Type`; `nil` if the server sent none.
    public let mediaType: String?

    init(_ file: OpenFile, size: Int64, mediaType: String?) {
        (self.file, self.size, self.mediaType) = (file, size, mediaType)
    }

    /// A path that opens the file for reading, in this process and as long as this value or a copy of it exists. It names
    /// the open file (`/proc/self/fd/…`), so it means nothing in another process.
    public var path: String { "/proc/self/fd/\(file.descriptor)" }

    /// The open descriptor, for reading by position. It is closed with the last copy of this value. Do not close it, and
    /// do not change its position, because other readers share it.
    public var descriptor: Int32 { file.descriptor }

    /// Reads bytes on a thread for files.
    ///
    /// - Parameter range: The positions, of which those after the end are left out.
    /// - Throws: `file` if the file cannot be read, or was shortened.
    public func bytes(in range: Range<Int64>) async throws(RequestFailure) -> Data {
        let range = range.clamped(to: 0..<max(size, 0))
        guard let count = Int(exactly: range.upperBound - range.lowerBound) else {
            throw BlobContent.tooLarge(size, Int.max)
        }
        return try await FileReads().bytes(of: file, at: range.lowerBound, count: count)
    }
}
