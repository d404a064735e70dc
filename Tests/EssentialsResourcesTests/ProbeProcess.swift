import Dispatch
import Glibc
import Synchronization
import Testing

/// A run of the program `ResourceProbe`, which is built beside the tests.
///
/// The calls block, so they belong on a thread of their own; see ``onThread(_:)``.
final class ProbeProcess: Sendable {
    let identifier: pid_t
    /// Standard input and output of the program.
    private let socket: Int32
    private let rest = Mutex<[UInt8]>([])

    /// Starts the program with an outbox.
    convenience init(directory: String, url: String, first: Int, count: Int, holds: Bool = false) throws {
        try self.init(["outbox", directory, url, "\(first)", "\(count)"] + (holds ? ["hold"] : []))
    }

    /// Starts the program with an entity cache.
    ///
    /// - Parameter number: Tells the processes of a directory apart: 0 or 1.
    convenience init(cache directory: String, number: Int, maximumBytes: Int) throws {
        try self.init(["cache", directory, "\(number)", "\(maximumBytes)"])
    }

    private init(_ arguments: [String]) throws {
        let path = try #require(Self.executable, "no executable “ResourceProbe” beside the tests")
        var ends: [Int32] = [0, 0]
        // Not inherited by other programs that are started at the same time.
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let isMade = socketpair(AF_UNIX, type, 0, &ends) == 0
        try #require(isMade, "no socket could be made")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for standard in [STDIN_FILENO, STDOUT_FILENO] {
            posix_spawn_file_actions_adddup2(&actions, ends[1], standard)
        }
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let code = posix_spawn(&child, path, &actions, nil, &words, environ)
        close(ends[1])
        (socket, identifier) = (ends[0], child)
        try #require(code == 0, "the program could not be started")
    }

    deinit { close(socket) }

    func kill() { _ = Glibc.kill(identifier, SIGKILL) }

    /// Sends a line to the program. A program that has ended receives nothing.
    func send(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Sends a line, and waits for the next one of the program.
    func reply(to line: String) -> String? {
        send(line)
        return self.line()
    }

    /// Ends the input of the program, and waits for its end.
    func finish() {
        shutdown(socket, Int32(SHUT_WR))
        wait()
    }

    /// The next line of the program; `nil` after its end.
    func line() -> String? {
        rest.withLock { rest in
            while true {
                if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { rest.removeFirst(end + 1) }
                    return String(decoding: rest[..<end], as: UTF8.self)
                }
                var buffer = [UInt8](repeating: 0, count: 4_096)
                let count = read(socket, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return nil }
                rest += buffer[..<count]
            }
        }
    }

    /// Waits for the end of the process.
    func wait() {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
    }

    private static let executable: String? = {
        var link = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &link, link.count - 1)
        let program = String(decoding: link.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return (CommandLine.arguments + [program]).lazy
            .compactMap { path in path.lastIndex(of: "/").map { path[...$0] + "ResourceProbe" } }
            .first { access($0, X_OK) == 0 }
    }()
}

/// Runs blocking work on a thread of its own.
func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "processes").async { continuation.resume(with: Result { try work() }) }
    }
}
