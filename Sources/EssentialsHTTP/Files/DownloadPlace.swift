/// The paths of a download: its destination, and the temporary names beside it.
struct DownloadPlace: Sendable, Hashable {
    /// The absolute path of the destination.
    let path: String
    /// The destination's directory.
    let directory: String
    private let name: Substring

    /// Parses a destination.
    ///
    /// - Throws: `file` if the path is empty, contains a zero byte, or does not end with the name of a file.
    init(_ destination: String) throws(RequestFailure) {
        path = try AbsolutePath.of(destination)
        // An absolute path contains a slash.
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        name = path[path.utf8.index(after: slash)...]
        directory = slash == path.startIndex ? "/" : String(path[..<slash])
        guard !["", ".", ".."].contains(name) else {
            throw RequestFailure(
                .file, "“\(RequestFailure.shownPath(destination))” is a directory.",
                remedy: "Give the path of a file in the directory.")
        }
    }

    /// What to try if the destination's directory does not exist.
    static let missingDirectory = "Create the directory, or have the download create it with createsDirectories."
    /// The suffix of the names of incomplete files.
    static let partialSuffix = ".part"
    /// The suffix of the names of resume records.
    static let recordSuffix = ".part.validator"
    /// The maximum length of a file name in bytes.
    private static let maximumName = 255

    /// The path of the partial file, if the download can be resumed.
    var partial: String { path + Self.partialSuffix }
    /// The path of the resume record, which identifies the version of the file that the partial bytes belong to.
    var record: String { path + Self.recordSuffix }

    /// A hidden name that no other download uses. It never exceeds the length that file systems allow.
    func temporary() -> String {
        let random = String(UInt64.random(in: .min ... .max), radix: 16)
        return inDirectory(temporaryBeginning + random + Self.partialSuffix)
    }

    /// Whether a name in the directory was made by ``temporary()`` for this destination.
    func isTemporary(_ name: String) -> Bool {
        name.hasPrefix(temporaryBeginning)
            && Self.isNumber(
                name.dropFirst(temporaryBeginning.count).dropLast(Self.partialSuffix.count))
            && name.hasSuffix(Self.partialSuffix)
    }

    /// Whether a name was made by ``temporary()`` for any destination.
    static func isTemporary(_ name: String) -> Bool {
        guard name.hasPrefix("."), name.hasSuffix(partialSuffix) else { return false }
        let rest = name.dropFirst().dropLast(partialSuffix.count)
        guard let dot = rest.lastIndex(of: "."), dot > rest.startIndex else { return false }
        return isNumber(rest[rest.index(after: dot)...])
    }

    /// The destination with a number before its extension, such as `film-1.mp4`.
    func numbered(_ number: Int) -> String {
        // A leading dot hides a file and does not begin an extension.
        let dot = name.lastIndex(of: ".").flatMap { $0 > name.startIndex ? $0 : nil } ?? name.endIndex
        var stem = name[..<dot]
        let end = "-\(number)\(name[dot...])"
        while stem.utf8.count + end.utf8.count > Self.maximumName, !stem.isEmpty { stem.removeLast() }
        return inDirectory(stem + end)
    }

    private var temporaryBeginning: String {
        var beginning = name
        while beginning.utf8.count > 200 { beginning.removeLast() }
        return ".\(beginning)."
    }

    private func inDirectory(_ name: String) -> String { (directory == "/" ? "" : directory) + "/" + name }

    private static func isNumber(_ text: Substring) -> Bool {
        (1...16).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIIDigit || (0x61...0x66).contains($0) }
    }
}
