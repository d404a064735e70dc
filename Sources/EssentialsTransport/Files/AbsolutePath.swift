#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Creates paths that do not depend on the current directory.
package enum AbsolutePath {
    /// Returns the path, prefixed with the current directory if it is relative. Symbolic links are not resolved.
    ///
    /// - Throws: `file` if the path is empty or contains a zero byte.
    package static func of(_ path: String) throws(RequestFailure) -> String {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw RequestFailure(
                .file,
                path.isEmpty
                    ? "The path is empty." : "The path “\(RequestFailure.shownPath(path))” contains a zero byte.",
                remedy: "Provide the path of a file.")
        }
        guard path.utf8.first != UInt8(ascii: "/") else { return path }
        let directory = FileManager.default.currentDirectoryPath
        return directory.utf8.last == UInt8(ascii: "/") ? directory + path : directory + "/" + path
    }
}
