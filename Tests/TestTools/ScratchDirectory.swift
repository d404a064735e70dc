import FoundationEssentials
import Glibc
import Testing

/// A directory that exists as long as its test.
package final class ScratchDirectory: Sendable {
    package let path: String

    package init() throws {
        path = FileManager.default.temporaryDirectory.path + "/essentials-files-\(UInt64.random(in: .min ... .max))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit {
        chmod(path, 0o700)
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a name in the directory.
    package func callAsFunction(_ name: String) -> String { path + "/" + name }

    /// All names in the directory, sorted.
    package var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() } }

    package func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: self(name)))
    }

    /// The text of a file; `nil` if it does not exist.
    package func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: self(name)).map { String(decoding: $0, as: UTF8.self) }
    }
}
