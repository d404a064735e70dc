/// The paths of a download: its destination, and the names beside it that it uses meanwhile.
struct DownloadPlace: Sendable, Hashable {
    /// The destination, absolute.
    let path: String
    /// The destination's directory.
    let directory: String
    private let name: Substring

    /// Reads a destination.
    ///
    /// - Throws: `file` when the path is empty, holds a zero byte, or does not end in a file's name.
    init(_ destination: String) throws(RequestFailure) {
        path = try AbsolutePath.of(destination)
        // An absolute path has a slash.
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        name = path[path.index(after: slash)...]
        directory = slash == path.startIndex ? "/" : String(path[..<slash])
        guard !["", ".", ".."].contains(name) else {
            throw RequestFailure(
                .file, "“\(RequestFailure.shownPath(destination))” names a directory.",
                remedy: "Name a file in the directory.")
        }
    }

    /// What has come of a download that can be resumed.
    var partial: String { path + ".part" }
    /// Whose bytes those are.
    var record: String { path + ".part.validator" }

    /// A name that nobody else uses. Hidden, and never longer than file systems allow.
    func temporary() -> String {
        var beginning = name
        while beginning.utf8.count > 200 { beginning.removeLast() }
        let random = String(UInt64.random(in: .min ... .max), radix: 16)
        return (directory == "/" ? "" : directory) + "/.\(beginning).\(random).part"
    }
}
