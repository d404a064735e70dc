#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Creates paths that do not depend on the current directory.
package enum AbsolutePath {
    /// Why a text is not a path.
    package enum Fault: Error, Sendable, Hashable {
        case empty
        case zeroByte
    }

    /// Returns the path, prefixed with the current directory if it is relative. Symbolic links are not resolved.
    package static func resolving(_ path: String) throws(Fault) -> String {
        guard !path.isEmpty else { throw .empty }
        guard !path.utf8.contains(0) else { throw .zeroByte }
        guard path.utf8.first != UInt8(ascii: "/") else { return path }
        let directory = FileManager.default.currentDirectoryPath
        return directory.utf8.last == UInt8(ascii: "/") ? directory + path : directory + "/" + path
    }

    /// The directory of a path; `.` for a name alone.
    package static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
