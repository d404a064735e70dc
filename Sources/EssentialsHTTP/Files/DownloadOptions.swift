/// How a download treats its destination, and what it demands of the file.
///
/// ```swift
/// var options = DownloadOptions()
/// options.resumes = true
/// options.maximumSize = 10 << 30
/// ```
public struct DownloadOptions: Sendable {
    /// What becomes of a file that is at the destination already.
    public enum Existing: Sendable, Hashable {
        /// It is replaced in one step: whoever opens the path finds the old file or the whole new one. The new file has
        /// the permissions of new files. A symbolic link is replaced itself, not what it leads to.
        case replace
        /// It stays, and the download fails: before anything is sent, or at its end if the file appeared meanwhile.
        case refuse
        /// It stays, and the new file gets a name that nobody has: `film.mp4`, else `film-1.mp4`, `film-2.mp4` and so on
        /// up to 999. ``DownloadedFile/path`` says which.
        case uniqueName
    }

    /// What becomes of a file that is there already. The default is `.refuse`: the download fails as `file`, and the file
    /// stays.
    public var existing: Existing = .refuse
    /// Whether what has come stays beside the destination after a failure, and the next attempt goes on from there. No.
    public var resumes = false
    /// Whether directories on the way to the destination are made that are missing. They are removed again when the
    /// download fails and nothing is in them. No.
    public var createsDirectories = false
    /// The most bytes that the file may have, or nil for any number. None.
    public var maximumSize: Int64?
    /// What the file's bytes must come to. Not checked.
    public var checksum: Checksum?

    /// The defaults named beside each property.
    public init() {}
}
