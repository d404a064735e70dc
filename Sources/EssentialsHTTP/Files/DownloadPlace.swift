import EssentialsStorage

/// The paths of a download: its destination, and the names beside it.
struct DownloadPlace: Sendable, Hashable {
    /// The destination.
    let file: FilePlace

    /// Parses a destination.
    ///
    /// - Throws: `file` if the path is empty, contains a zero byte, or does not end with the name of a file.
    init(_ destination: String) throws(RequestFailure) { file = try FilePlace.of(destination) }

    /// What to try if the destination's directory does not exist.
    static let missingDirectory = "Create the directory, or have the download create it with createsDirectories."
    /// The suffix of the names of incomplete files.
    static let partialSuffix = FilePlace.temporarySuffix
    /// The suffix of the names of resume records.
    static let recordSuffix = ".part.validator"
    /// The maximum length of a file name in bytes.
    private static let maximumName = 255

    /// The absolute path of the destination.
    var path: String { file.path }
    /// The destination's directory.
    var directory: String { file.directory }
    /// The path of the partial file, if the download can be resumed.
    var partial: String { path + Self.partialSuffix }
    /// The path of the resume record, which identifies the version of the file that the partial bytes belong to.
    var record: String { path + Self.recordSuffix }

    /// The destination with a number before its extension, such as `film-1.mp4`.
    func numbered(_ number: Int) -> String {
        let name = file.name
        // A leading dot hides a file and does not begin an extension.
        let dot = name.lastIndex(of: ".").flatMap { $0 > name.startIndex ? $0 : nil } ?? name.endIndex
        var stem = name[..<dot]
        let end = "-\(number)\(name[dot...])"
        while stem.utf8.count + end.utf8.count > Self.maximumName, !stem.isEmpty { stem.removeLast() }
        return file.sibling(stem + end)
    }
}
