import EssentialsStorage
import EssentialsTools

/// The directories that a download has created for its destination.
///
/// All calls can block, so they belong on a file thread.
struct DownloadDirectories {
    /// The created directories, the outermost first.
    private var made: [String] = []

    /// Creates a directory and its missing parents, with the permissions of new directories.
    mutating func make(_ path: String) throws(FileError) {
        try FileDirectory.make(path, mode: 0o777, made: &made)
    }

    /// Removes the created directories that are empty.
    mutating func removeEmpty() {
        for directory in made.reversed() { rmdir(directory) }
        made = []
    }
}
