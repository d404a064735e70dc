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
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        name = path[path.utf8.index(after: slash)...]
        directory = slash == path.startIndex ? "/" : String(path[..<slash])
        guard !["", ".", ".."].contains(name) else {
            throw RequestFailure(
                .file, "“\(RequestFailure.shownPath(destination))” names a directory.",
                remedy: "Name a file in the directory.")
        }
    }

    /// What the names of files end with that are not whole.
    static let partialSuffix = ".part"
    /// What the names of records end with.
    static let recordSuffix = ".part.validator"
    /// The longest name that file systems allow, in bytes.
    private static let maximumName = 255

    /// What has come of a download that can be resumed.
    var partial: String { path + Self.partialSuffix }
    /// Whose bytes those are.
    var record: String { path + Self.recordSuffix }

    /// A name that nobody else uses. Hidden, and never longer than file systems allow.
    func temporary() -> String {
        let random = String(UInt64.random(in: .min ... .max), radix: 16)
        return inDirectory(temporaryBeginning + random + Self.partialSuffix)
    }

    /// Whether a name in the directory is one that ``temporary()`` has made for this destination.
    func isTemporary(_ name: String) -> Bool {
        name.hasPrefix(temporaryBeginning)
            && Self.isNumber(
                name.dropFirst(temporaryBeginning.count).dropLast(Self.partialSuffix.count))
            && name.hasSuffix(Self.partialSuffix)
    }

    /// Whether a name is one that ``temporary()`` has made for any destination.
    static func isTemporary(_ name: String) -> Bool {
        guard name.hasPrefix("."), name.hasSuffix(partialSuffix) else { return false }
        let rest = name.dropFirst().dropLast(partialSuffix.count)
        guard let dot = rest.lastIndex(of: "."), dot > rest.startIndex else { return false }
        return isNumber(rest[rest.index(after: dot)...])
    }

    /// The destination with a number before its extension, for files that must not take another's place: `film-1.mp4`.
    func numbered(_ number: Int) -> String {
        // A dot at the beginning hides a file, and begins no extension.
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
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
