import Glibc
import Synchronization
import Testing

/// A run of the program `OutboxProbe`, which is built beside the tests.
///
/// The calls block, so they belong on a thread of their own.
final class OutboxProcess: Sendable {
    let identifier: pid_t
    /// Standard input and output of the program.
    private let socket: Int32
    private let rest = Mutex<[UInt8]>([])

    init(directory: String, url: String, first: Int, count: Int, holds: Bool = false) throws {
        let path = try #require(Self.executable, "no executable “OutboxProbe” beside the tests")
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
        let command = [path, directory, url, "\(first)", "\(count)"] + (holds ? ["hold"] : [])
        var words = command.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let code = posix_spawn(&child, path, &actions, nil, &words, environ)
        close(ends[1])
        (socket, identifier) = (ends[0], child)
        try #require(code == 0, "the program could not be started")
    }

    deinit { close(socket) }

    func kill() { _ = Glibc.kill(identifier, SIGKILL) }

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
            .compactMap { path in path.lastIndex(of: "/").map { path[...$0] + "OutboxProbe" } }
            .first { access($0, X_OK) == 0 }
    }()
}
