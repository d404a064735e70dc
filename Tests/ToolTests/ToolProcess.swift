import Dispatch
import FoundationEssentials
import Glibc
import Testing

/// The result of a run of the tool.
struct ToolResult: Sendable {
    /// The exit code, or 128 plus the signal's number if a signal ended the process.
    let code: Int32
    let output: [UInt8]
    let errors: String

    var text: String { String(decoding: output, as: UTF8.self) }
    var errorLines: [Substring] { errors.split(separator: "\n") }

    /// The reason from the line `error: REASON: text`; `nil` if standard error has another format.
    var reason: String? {
        let parts = errors.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard errorLines.count == 1, parts.count == 3, parts[0] == "error", parts[2].count > 10 else { return nil }
        return String(parts[1].dropFirst())
    }
}

/// A run of the built executable.
///
/// The executable is searched beside the test bundle, where SwiftPM puts all products of a build: in the directories of
/// the running program and of its arguments.
final class ToolProcess: Sendable {
    /// The destination of the process's standard output.
    enum Output {
        case captured
        /// A pipe whose reading end is closed.
        case closedPipe
        /// A pipe that is not read: writing blocks once it is full.
        case stalledPipe
        /// A pseudo-terminal, which is standard error, too. It changes no byte.
        case terminal
    }

    let identifier: pid_t
    private let outputFile: Int32
    private let errorFile: Int32
    private let terminal: PseudoTerminal?

    /// Starts the tool, or another program, with these environment variables in addition to those of the tests.
    init(
        _ arguments: [String], input: [UInt8] = [], output: Output = .captured, environment: [String: String] = [:],
        directory: String? = nil, program: String? = nil
    ) throws {
        outputFile = try Self.temporaryFile()
        errorFile = try Self.temporaryFile()
        let inputFile = try Self.temporaryFile(input)
        let usesPipe = output == .closedPipe || output == .stalledPipe
        let pipe = usesPipe ? try Self.pipe(keepsReader: output == .stalledPipe) : nil
        terminal = output == .terminal ? try PseudoTerminal() : nil
        defer {
            close(inputFile)
            if let pipe { close(pipe) }
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, inputFile, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, terminal?.programEnd ?? pipe ?? outputFile, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, terminal?.programEnd ?? errorFile, STDERR_FILENO)

        // Another test may let its process ignore signals meanwhile, which programs would inherit.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGINT)
        sigaddset(&defaults, SIGQUIT)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))

        let path = try #require(program ?? Self.executable, "no executable “essentials” beside the tests")
        // The shell changes the directory and is replaced by the tool.
        let shell = directory.map { ["/bin/sh", "-c", #"cd "$0" && exec "$@""#, $0] } ?? []
        let command = shell + [path] + arguments
        var words = command.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let own = sequence(state: environ) { next -> UnsafeMutablePointer<CChar>? in
            defer { next += 1 }
            return next.pointee
        }
        let given = environment.map { strdup("\($0)=\($1)") }
        defer { for variable in given { free(variable) } }
        // If a name occurs twice, the first variable is used.
        var variables = given + own.map { $0 } + [nil]
        let code = posix_spawn(&child, shell.first ?? path, &actions, &attributes, &words, &variables)
        try #require(code == 0, "the tool could not be started")
        identifier = child
        terminal?.startReading()
    }

    deinit {
        close(outputFile)
        close(errorFile)
    }

    func signal(_ number: Int32) { kill(identifier, number) }

    /// Waits for the end of the process.
    func end() async -> ToolResult {
        let status = await withCheckedContinuation { continuation in
            Thread.start { [identifier] in
                var status: Int32 = 0
                while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
                continuation.resume(returning: status)
            }
        }
        let signal = status & 0x7f
        let output = await terminal?.contents() ?? Self.contents(outputFile)
        return ToolResult(
            code: signal == 0 ? (status >> 8) & 0xff : 128 + signal, output: output,
            errors: String(decoding: Self.contents(errorFile), as: UTF8.self))
    }

    // MARK: Files

    static let executable: String? = {
        var link = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &link, link.count - 1)
        let program = String(decoding: link.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return (CommandLine.arguments + [program]).lazy
            .compactMap { path in path.lastIndex(of: "/").map { path[...$0] + "essentials" } }
            .first { access($0, X_OK) == 0 }
    }()

    // Every descriptor is close-on-exec from the start, because several tests start processes at the same time.

    /// Opens a file without a name.
    private static func temporaryFile(_ bytes: [UInt8] = []) throws -> Int32 {
        let path = temporaryPath()
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0, "no file could be made")
        unlink(path)
        let count = write(descriptor, bytes, bytes.count)
        try #require(count == bytes.count, "the input could not be written")
        lseek(descriptor, 0, SEEK_SET)
        return descriptor
    }

    /// The writing end of a pipe.
    private static func pipe(keepsReader: Bool) throws -> Int32 {
        let path = temporaryPath()
        try #require(mkfifo(path, 0o600) == 0, "no pipe could be made")
        defer { unlink(path) }
        // A reader that is kept stays open until the tests end.
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let writer = open(path, O_WRONLY | O_CLOEXEC)
        if !keepsReader { close(reader) }
        return writer
    }

    private static func temporaryPath() -> String {
        "/tmp/essentials-tool-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    }

    private static func contents(_ descriptor: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = pread(descriptor, &buffer, buffer.count, off_t(bytes.count))
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }
}

/// Threads for blocking calls, so that they do not block the tests' tasks.
private enum Thread {
    static func start(_ body: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "tool.wait").async(execute: body)
    }
}

/// Runs the tool and waits for its end.
func tool(
    _ arguments: String..., input: [UInt8] = [], output: ToolProcess.Output = .captured,
    environment: [String: String] = [:]
) async throws -> ToolResult {
    try await ToolProcess(arguments, input: input, output: output, environment: environment).end()
}
