import Foundation
import Testing

/// A finished run of a program that was built beside the tests.
struct ProgramRun {
    let code: Int32
    let output: String

    /// Runs a program of the build in a directory, and waits for its end.
    init(_ name: String, _ arguments: [String] = [], directory: URL = .temporaryDirectory) async throws {
        let output = Pipe()
        let process = Process()
        let program: URL = try #require(Self.executable(name), "no program “\(name)” beside the tests")
        process.executableURL = program
        process.arguments = arguments
        process.currentDirectoryURL = directory
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        let code = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        // What these programs print fits into the pipe, so it can be read when they have ended.
        self.output = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        self.code = code
    }

    /// The programs are in the directory of the running test program, or of one of its arguments.
    private static func executable(_ name: String) -> URL? {
        let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        return (CommandLine.arguments + [own]).lazy
            .map { URL(filePath: $0).deletingLastPathComponent().appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}

/// A directory that is removed with this object.
final class ProgramDirectory: Sendable {
    let url: URL

    init() throws {
        url = .temporaryDirectory.appending(path: "essentials-tutorial-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: url.appending(path: name))
    }
}
