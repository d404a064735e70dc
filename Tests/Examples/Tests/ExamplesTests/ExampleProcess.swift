import Foundation
import Glibc
import Testing

/// A run of an example that was built beside the tests.
struct ExampleProcess {
    /// The end of a process.
    struct End: Sendable {
        /// The exit status, or 128 plus the number of the signal that ended the process.
        let status: Int32
        let lines: [String]
        let errors: String
    }

    /// A folder with nothing but the files of this run.
    let folder: TemporaryFolder
    private let process = Process()

    /// Starts an example with these environment variables in addition to those of the tests.
    init(_ name: String, _ arguments: [String] = [], environment: [String: String] = [:]) throws {
        let program: URL = try #require(Self.executable(name), "no executable “\(name)” beside the tests")
        try self.init(program, arguments, environment: environment)
    }

    /// Starts a program.
    init(_ program: URL, _ arguments: [String], environment: [String: String] = [:]) throws {
        folder = try TemporaryFolder()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try folder.emptyFile("output")
        process.standardError = try folder.emptyFile("errors")
        try process.run()
    }

    private static func executable(_ name: String) -> URL? {
        let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        return (CommandLine.arguments.map { URL(filePath: $0) } + [own]).lazy
            .map { $0.deletingLastPathComponent().appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Waits for a line of the output with this beginning, and returns the rest of the line.
    func line(after beginning: String, within limit: Duration = .seconds(60)) async throws -> String {
        let deadline = ContinuousClock.now + limit
        while process.isRunning, ContinuousClock.now < deadline {
            if let line = folder.lines("output").first(where: { $0.hasPrefix(beginning) }) {
                return String(line.dropFirst(beginning.count))
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        signal(SIGKILL)
        Issue.record("The process wrote no line “\(beginning)”: \(folder.lines("errors"))")
        throw CancellationError()
    }

    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// Waits for the end of the process. One that takes longer than the limit is killed.
    func end(within limit: Duration = .seconds(60)) async throws -> End {
        let deadline = ContinuousClock.now + limit
        while process.isRunning {
            if ContinuousClock.now > deadline { signal(SIGKILL) }
            try await Task.sleep(for: .milliseconds(10))
        }
        let isSignal = process.terminationReason == .uncaughtSignal
        return End(
            status: process.terminationStatus + (isSignal ? 128 : 0), lines: folder.lines("output"),
            errors: folder.lines("errors").joined(separator: "\n"))
    }
}

/// A folder that is removed with the last reference to it.
final class TemporaryFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "examples-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() } }

    func path(_ name: String) -> String { url.appending(path: name).path }

    /// Writes a file and returns its path.
    func file(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: url.appending(path: name))
        return path(name)
    }

    fileprivate func emptyFile(_ name: String) throws -> FileHandle {
        try FileHandle(forWritingTo: URL(filePath: file(name, "")))
    }

    /// The complete lines of a file.
    fileprivate func lines(_ name: String) -> [String] {
        let text = (try? String(contentsOf: url.appending(path: name), encoding: .utf8)) ?? ""
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}
