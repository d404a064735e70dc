#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A hidden file beside a destination, which takes the destination's place when it is complete. It is locked, so that
/// files of killed processes can be told from those that are being written.
///
/// All calls can block, so they belong on a file thread.
package enum TemporaryFile {
    /// Removes the files that killed processes left for a destination, and creates another one.
    ///
    /// - Throws: `file` if the destination is no name of a file, or if the file cannot be created.
    package static func create(for destination: String) throws(RequestFailure) -> (path: String, file: OpenFile) {
        let place = try DownloadPlace(destination)
        removeAbandoned(for: place)
        return try RequestFailure.onFile(
            destination, "could not be created", missing: "Create the directory.", phase: .preparation
        ) { () throws(SystemError) in try create(for: place) }
    }

    /// Removes the files that no process writes to any more.
    static func removeAbandoned(for place: DownloadPlace) {
        _ = AbandonedFiles.removeTemporaries(in: place.directory, where: place.isTemporary)
    }

    static func create(for place: DownloadPlace) throws(SystemError) -> (path: String, file: OpenFile) {
        var attempts = 0
        while true {
            attempts += 1
            let path = place.temporary()
            do throws(SystemError) {
                let file = try OpenFile(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
                // Whoever cleans up may have removed the file before it was locked.
                let isOurs = file.lock() && (try? FileStatus(of: path, followsLink: false)) != nil
                if isOurs || attempts >= 16 { return (path, file) }
            } catch {
                guard error.code == EEXIST, attempts < 16 else { throw error }
            }
        }
    }
}
