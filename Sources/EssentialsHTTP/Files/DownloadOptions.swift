/// How a download treats its destination, and what it requires of the file.
///
/// ```swift
/// var options = DownloadOptions()
/// options.resumes = true
/// options.maximumSize = 10 << 30
/// ```
public struct DownloadOptions: Sendable {
    /// What happens to a file that exists at the destination.
    public enum Existing: Sendable, Hashable {
        /// The file is replaced in one step: a process that opens the path finds the old file or the complete new one.
        /// The new file has the permissions of new files. A symbolic link is replaced itself, not its target.
        case replace
        /// The file stays, and the download fails: before the request is sent, or at the end if the file appeared
        /// meanwhile.
        case refuse
        /// The file stays, and the new file gets an unused name: `film.mp4`, or else `film-1.mp4`, `film-2.mp4` and so
        /// on up to 999. ``DownloadedFile/path`` is the name.
        case uniqueName
    }

    /// What happens to a file that exists at the destination. The default is `.refuse`: the download fails with `file`,
    /// and the file stays.
    public var existing: Existing = .refuse
    /// Whether a failed download keeps the bytes it has received, so that the next one resumes there. The default is
    /// `false`.
    public var resumes = false
    /// Whether missing directories of the destination's path are created. If the download fails, those that are empty
    /// are removed again. The default is `false`.
    public var createsDirectories = false
    /// The maximum size of the file in bytes. The default is `nil`, which means no limit.
    public var maximumSize: Int64?
    /// The checksum that the file must have. The default is `nil`, which means no check.
    public var checksum: Checksum?

    /// Creates options with the defaults.
    public init() {}
}
