import EssentialsTools

/// Finds and removes files whose process was killed while it wrote them.
///
/// All calls can block, so they belong on a file thread.
package enum AbandonedFiles {
    /// The maximum number of directory entries that are examined.
    package static let maximumEntries = 10_000

    /// Removes the files in a directory that no process is writing any more, and returns their names.
    ///
    /// - Parameter belongs: Whether a file name may be removed.
    package static func remove(in directory: String, where belongs: (String) -> Bool) -> [String] {
        let place = FileDirectory(absolute: directory)
        return names(in: directory, where: belongs).filter { removeIfAbandoned(place.path(of: $0)) }
    }

    /// Removes the temporary files of a place that no process is writing any more.
    package static func remove(beside place: FilePlace) {
        _ = remove(in: place.directory, where: place.isTemporary)
    }

    /// Removes a regular file of this user if no process has locked it.
    package static func removeIfAbandoned(_ path: String) -> Bool {
        // A file that replaces a read-only one is read-only too.
        guard let (file, status) = (try? OwnFile.open(path, O_RDWR, [])) ?? (try? OwnFile.open(path, O_RDONLY, [])),
            (try? file.lock(withoutLocks: false)) == true,
            // Before the lock was acquired, the file may have been renamed to its final name.
            let named = try? FileStatus(of: path, followsLink: false), named.identity == status.identity
        else { return false }
        return unlink(path) == 0
    }

    /// The names in a directory that fulfil a condition, sorted. A directory that cannot be read has none.
    package static func names(in directory: String, where belongs: (String) -> Bool) -> [String] {
        let names = try? DirectoryNames.read(directory, examining: maximumEntries, where: belongs)
        return names?.sorted() ?? []
    }

    /// Checks that a directory can be listed.
    package static func checkReadable(_ directory: String) throws(FileError) {
        _ = try OpenFile(directory, O_RDONLY | O_DIRECTORY)
    }
}
