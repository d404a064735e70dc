import Dispatch
import EssentialsTools
package import Glibc
import Testing

/// A program that runs beside the tests.
///
/// The calls block, so they belong on a thread of their own; see ``onThread(_:)``.
package final class ChildProcess: Sendable {
    package let identifier: pid_t
    /// Standard input and output of the program.
    private let socket: Int32
    private let rest = Mutex<[UInt8]>([])

    /// The path of a program that is built beside the tests; `nil` if it is not there.
    package static func path(of program: String) -> String? {
        var link = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &link, link.count - 1)
        let tests = String(decoding: link.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return (CommandLine.arguments + [tests]).lazy
            .compactMap { path in path.lastIndex(of: "/").map { path[...$0] + program } }
            .first { access($0, X_OK) == 0 }
    }

    /// Starts a program that is built beside the tests.
    package convenience init(_ program: String, _ arguments: [String]) throws {
        let path = try #require(Self.path(of: program), "no executable “\(program)” beside the tests")
        try self.init(command: [path] + arguments)
    }

    /// Starts a program that is found as a shell finds it.
    package init(command: [String]) throws {
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
        var words = command.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let code = posix_spawnp(&child, command[0], &actions, nil, &words, environ)
        close(ends[1])
        (socket, identifier) = (ends[0], child)
        try #require(code == 0, "the program could not be started")
    }

    deinit { close(socket) }

    // MARK: Input and output

    /// Sends a line to the program. A program that has ended receives nothing.
    package func send(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Sends a line, and waits for the next one of the program.
    package func reply(to line: String) -> String? {
        send(line)
        return self.line()
    }

    /// The next line of the program; `nil` after its end.
    package func line() -> String? {
        rest.withLock { rest in
            while true {
                if let line = Self.takeLine(&rest) { return line }
                guard fill(&rest) else { return nil }
            }
        }
    }

    /// The lines of the program during a time of at most a minute, or until its end.
    package func lines(for duration: Duration) -> [String] {
        let end = ContinuousClock.now + duration
        var lines: [String] = []
        rest.withLock { rest in
            while true {
                while let line = Self.takeLine(&rest) { lines.append(line) }
                let left = max(.zero, end - .now) / Duration.milliseconds(1)
                var look = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
                let count = poll(&look, 1, Int32(left.rounded(.up)))
                if count < 0, errno == EINTR { continue }
                guard count > 0, fill(&rest) else { return }
            }
        }
        return lines
    }

    private static func takeLine(_ rest: inout [UInt8]) -> String? {
        // A line can be long, and a search without optimization is slow.
        let place = rest.withUnsafeBytes { bytes in
            bytes.baseAddress.flatMap { start in memchr(start, 0x0a, bytes.count).map { UnsafeRawPointer($0) - start } }
        }
        guard let end = place else { return nil }
        defer { rest.removeFirst(end + 1) }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    /// Waits for bytes; false at the end of the output.
    private func fill(_ rest: inout [UInt8]) -> Bool {
        while true {
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            let count = read(socket, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest += buffer[..<count]
            return true
        }
    }

    // MARK: The end

    /// Kills the process. It may be called while another thread reads its lines.
    package func kill() { _ = Glibc.kill(identifier, SIGKILL) }

    /// Kills the process, waits for its end, and returns the lines that it has printed since the last look.
    package func lastLines() -> [String] {
        kill()
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        wait()
        return lines
    }

    /// Ends the input of the program, and waits for its end.
    package func finish() {
        shutdown(socket, Int32(SHUT_WR))
        wait()
    }

    /// Waits for the end of the process.
    ///
    /// - Returns: Its exit code; the negative number of the signal that has ended it.
    @discardableResult
    package func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : -signal
    }

    /// Sends a signal to the process.
    package func send(signal: Int32) { _ = Glibc.kill(identifier, signal) }

    /// Runs blocking work on a thread of its own.
    package static func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "processes").async { continuation.resume(with: Result { try work() }) }
        }
    }
}
