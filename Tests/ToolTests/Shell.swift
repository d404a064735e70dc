import FoundationEssentials
import Glibc
import Testing

/// Runs scripts in the shells of this machine.
enum Shell {
    /// Whether a program is on the path.
    static func has(_ program: String) -> Bool {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
    }

    /// Runs a script with the tool on the path and the folder as working and home directory.
    ///
    /// - Returns: The exit code and the lines of both outputs.
    static func run(
        _ script: String, with shell: String = "bash", in directory: TemporaryDirectory
    ) async throws -> (code: Int32, lines: [String]) {
        let file = try directory.file(".script", script)
        let output = directory.path + "/.output"
        let tool = try #require(ToolProcess.executable)
        let folder = tool[..<(try #require(tool.lastIndex(of: "/")))]
        let code = try await command(
            "cd \(directory.path) && HOME=$PWD PATH=\(folder):$PATH TERM=dumb timeout 300 \(shell) \(file) "
                + ">\(output) 2>&1 </dev/null")
        let text = String(decoding: try directory.contents(".output"), as: UTF8.self)
        return (code, text.split(separator: "\n").map(String.init))
    }

    /// Runs a command. `system` would block a thread of the tests, and let programs that start meanwhile ignore SIGINT.
    ///
    /// - Returns: The exit code.
    static func command(_ command: String) async throws -> Int32 {
        try await ToolProcess(["-c", command], program: "/bin/sh").end().code
    }
}
