import EssentialsTools
package import Glibc
import Testing

/// A Redis server of a test: a process of its own with an empty database. It ends with the test.
package final class RedisServer: Sendable {
    package let port: UInt16
    package let scratch: ScratchDirectory
    private let options: [String]
    private let process: Mutex<(shell: ChildProcess, server: pid_t)?>

    /// - Parameter options: Further options of redis-server.
    package init(_ options: [String] = [], port: UInt16? = nil) async throws {
        scratch = try ScratchDirectory()
        self.options = options
        self.port = port ?? Self.freePort()
        process = Mutex(nil)
        try await start()
    }

    deinit { stop() }

    /// Whether a server can be started.
    package static let isThere = ["/usr/bin", "/usr/local/bin"].contains { (folder: String) in
        access(folder + "/redis-server", X_OK) == 0
    }

    /// Starts the server, with an empty database.
    package func start() async throws {
        let arguments =
            [
                "--port", "\(port)", "--bind", "127.0.0.1", "--unixsocket", scratch("redis.sock"), "--save", "",
                "--appendonly", "no", "--dir", scratch.path, "--enable-debug-command", "yes",
            ] + options
        // The shell ends the server when the test process ends, however that happens.
        let script = "redis-server \"$@\" </dev/null >\(scratch("log")) 2>&1 & echo $!; read line; kill -9 $!"
        let shell = try ChildProcess(command: ["sh", "-c", script, "sh"] + arguments)
        let line = try await ChildProcess.onThread { shell.line() }
        let server = try #require(line.flatMap { pid_t($0) })
        process.withLock { $0 = (shell, server) }
        let end = ContinuousClock.now + .seconds(60)
        while scratch.text("log")?.contains("Ready to accept connections") != true {
            try #require(ContinuousClock.now < end, "redis-server does not start: \(scratch.text("log") ?? "")")
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Kills the server, which loses everything.
    package func stop() {
        process.withLock { process in
            process?.shell.finish()
            process = nil
        }
        unlink(scratch("log"))
    }

    /// Sends a signal to the server.
    package func send(signal: Int32) {
        process.withLock { process in if let process { _ = kill(process.server, signal) } }
    }

    /// The URL of the server.
    package var url: String { "redis://127.0.0.1:\(port)" }

    /// Defines a user, as an administrator does.
    package func setUser(_ name: String, _ rules: [String], password: String) async throws {
        let arguments = ["-p", "\(port)", "-a", password, "--no-auth-warning", "ACL", "SETUSER", name] + rules
        let lines = try await ChildProcess.onThread {
            let process = try ChildProcess(command: ["redis-cli"] + arguments)
            defer { process.wait() }
            return process.line()
        }
        try #require(lines == "OK")
    }

    /// A port on which nothing listens. It is below those that the system gives to sockets, so that no other test gets it.
    package static func freePort() -> UInt16 {
        while true {
            let port = UInt16.random(in: 10_000..<30_000)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            name.sin_port = port.bigEndian
            let isFree = withUnsafeMutablePointer(to: &name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    bind(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            if isFree { return port }
        }
    }
}
