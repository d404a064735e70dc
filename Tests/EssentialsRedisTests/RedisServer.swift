import EssentialsCurl
import EssentialsTools
import EssentialsTransport
import Glibc
import TestTools
import Testing

@testable import EssentialsRedis

/// A Redis server of a test: a process of its own with an empty database. It ends with the test.
final class RedisServer: Sendable {
    let port: UInt16
    let scratch: ScratchDirectory
    private let options: [String]
    private let process: Mutex<(shell: ChildProcess, server: pid_t)?>

    /// - Parameter options: Further options of redis-server.
    init(_ options: [String] = [], port: UInt16? = nil) async throws {
        scratch = try ScratchDirectory()
        self.options = options
        self.port = port ?? Self.freePort()
        process = Mutex(nil)
        try await start()
    }

    deinit { stop() }

    /// Whether a server can be started.
    static let isThere = ["/usr/bin", "/usr/local/bin"].contains { (folder: String) in
        access(folder + "/redis-server", X_OK) == 0
    }

    /// Starts the server, with an empty database.
    func start() async throws {
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
    func stop() {
        process.withLock { process in
            process?.shell.finish()
            process = nil
        }
        unlink(scratch("log"))
    }

    /// Sends a signal to the server.
    func send(signal: Int32) { process.withLock { process in if let process { _ = kill(process.server, signal) } } }

    /// The URL of the server.
    var url: String { "redis://127.0.0.1:\(port)" }

    static func freePort() -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = bind(descriptor, pointer, size)
                _ = getsockname(descriptor, pointer, &size)
            }
        }
        return UInt16(bigEndian: name.sin_port)
    }

    /// A client of the server, with time for slow machines unless a test says otherwise.
    func client(
        _ application: String = "test", _ url: String? = nil, over links: (any LinkOpening)? = nil,
        configure: (inout RedisClient.Configuration) -> Void = { _ in }
    ) throws -> RedisClient {
        var configuration = RedisClient.Configuration()
        configuration.timeLimit = .seconds(30)
        configure(&configuration)
        return try RedisClient(
            url ?? self.url, application: application, over: links ?? CurlTransport(trust: .system),
            configuration: configuration)
    }

    /// Runs a command through a connection of its own, as another program would.
    @discardableResult
    func run(_ arguments: String...) async throws -> RESPValue { try await run(arguments) }

    @discardableResult
    func run(_ arguments: [String]) async throws -> RESPValue {
        let client = try client("other")
        defer { client.close() }
        return try await client.write([RedisCommand(arguments.map { .text($0) })])[0].get()
    }
}
