/// The path of a file, and the temporary names beside it.
package struct FilePlace: Sendable, Hashable {
    /// Why a text is not the path of a file.
    package enum Fault: Error, Sendable, Hashable {
        case path(AbsolutePath.Fault)
        /// The path does not end with the name of a file.
        case noName
    }

    /// The absolute path.
    package let path: String
    /// The absolute path of the directory.
    package let directory: String
    /// The name in the directory.
    package let name: Substring

    /// The suffix of temporary names.
    package static let temporarySuffix = ".part"

    package init(_ file: String) throws(Fault) {
        do throws(AbsolutePath.Fault) {
            path = try AbsolutePath.resolving(file)
        } catch {
            throw .path(error)
        }
        // An absolute path contains a slash.
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        name = path[path.utf8.index(after: slash)...]
        directory = AbsolutePath.directory(of: path)
        guard !["", ".", ".."].contains(name) else { throw .noName }
    }

    /// The path of another name in the directory.
    package func sibling(_ name: String) -> String { (directory == "/" ? "" : directory) + "/" + name }

    /// A hidden name that no other process uses. It never exceeds the length limit of file systems.
    package func temporary() -> String {
        let random = String(UInt64.random(in: .min ... .max), radix: 16)
        return sibling(temporaryBeginning + random + Self.temporarySuffix)
    }

    /// Whether ``temporary()`` created a name in the directory for this file.
    package func isTemporary(_ name: String) -> Bool {
        name.hasPrefix(temporaryBeginning) && name.hasSuffix(Self.temporarySuffix)
            && Self.isNumber(name.dropFirst(temporaryBeginning.count).dropLast(Self.temporarySuffix.count))
    }

    /// Whether ``temporary()`` created a name for any file.
    package static func isTemporary(_ name: String) -> Bool {
        guard name.hasPrefix("."), name.hasSuffix(temporarySuffix) else { return false }
        let rest = name.dropFirst().dropLast(temporarySuffix.count)
        guard let dot = rest.lastIndex(of: "."), dot > rest.startIndex else { return false }
        return isNumber(rest[rest.index(after: dot)...])
    }

    private var temporaryBeginning: String {
        var beginning = name
        while beginning.utf8.count > 200 { beginning.removeLast() }
        return ".\(beginning)."
    }

    private static func isNumber(_ text: Substring) -> Bool {
        (1...16).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
