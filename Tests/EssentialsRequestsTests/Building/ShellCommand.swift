import FoundationEssentials
import Glibc
import Testing

/// A command line that a shell runs.
enum ShellCommand {
    /// Whether the curl program is installed.
    static let hasCurl =
        getenv("PATH").map { String(cString: $0) }?.split(separator: ":")
        .contains { access("\($0)/curl", X_OK) == 0 } == true

    /// Runs a command in a new directory, and expects that it succeeds.
    ///
    /// - Parameter files: The names and contents of files in the directory.
    static func run(_ command: String, files: [String: Data] = [:]) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try Data(command.utf8).write(to: directory.appending(path: "command.sh"))
        for (name, content) in files { try content.write(to: directory.appending(path: name)) }
        let line = "cd '\(directory.path)' && HOME=/nonexistent NO_PROXY='*' /bin/sh command.sh 2>&1"
        let pipe = try #require(popen(line, "r"))
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while fread(&buffer, 1, buffer.count, pipe) > 0 {}
        #expect(pclose(pipe) == 0)
    }
}
