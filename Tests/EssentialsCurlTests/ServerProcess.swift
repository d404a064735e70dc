import CEssentialsTest
import EssentialsTestKit
import FoundationEssentials
import Glibc

/// A server program of another project. It ends with its last reference.
final class ServerProcess: Sendable {
    private let identifier: pid_t
    /// The directory of the program's files, which is removed with this object.
    let directory: String

    /// The path of a program; nil if it is not installed.
    static func path(of program: String) -> String? {
        let places = (getenv("PATH").map { String(cString: $0) } ?? "") + ":/usr/sbin:/usr/local/sbin"
        return places.split(separator: ":").map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
    }

    /// Starts a program with its output in the file `output` of its directory.
    ///
    /// - Parameters:
    ///   - listener: A socket that the program inherits as its descriptor 3.
    ///   - environment: The whole environment of the program.
    init(
        _ program: String, directory: String, arguments: [String], listener: Int32? = nil, environment: [String] = []
    ) throws {
        self.directory = directory
        guard let path = Self.path(of: program) else { throw TestKitError("\(program) is not installed.") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, directory + "/output", O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        if let listener { posix_spawn_file_actions_adddup2(&actions, listener, 3) }
        // If the program kept connections of other tests open, they would never end.
        _ = cet_spawn_keeping(&actions, listener == nil ? 3 : 4)
        // The threads of tasks block signals. A program that inherits this could not be ended.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup($0) } + [nil]
        defer { for text in words + variables { free(text) } }
        var child: pid_t = 0
        guard posix_spawn(&child, path, &actions, &attributes, &words, &variables) == 0 else {
            throw TestKitError("\(program) could not be started.")
        }
        identifier = child
    }

    deinit {
        kill(identifier, SIGTERM)
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Returns the present content of a file in the program's directory.
    func text(_ file: String = "output") -> String {
        (try? Data(contentsOf: URL(filePath: "\(directory)/\(file)"))).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Waits for a text in a file; nil if the program does not write it within half a minute.
    func line(with text: String, in file: String = "output") async throws -> Substring? {
        let end = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < end {
            if let line = self.text(file).split(separator: "\n").first(where: { $0.contains(text) }) { return line }
            try await Task.sleep(for: .milliseconds(5))
        }
        return nil
    }

    /// Creates a directory that other users can search, such as the workers of servers.
    static func makeDirectory() throws -> String {
        let path = "/tmp/essentials-server-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        guard mkdir(path, 0o755) == 0 else { throw TestKitError("no directory") }
        return path
    }
}

extension ServerProcess {
    /// An nginx that presents `CHAIN.chain.pem` and serves its directory, on a port whose listener it inherits.
    static func nginx(_ chain: String, protocols: String, files: [String: Data]) throws -> (ServerProcess, UInt16) {
        let directory = try makeDirectory()
        for (name, data) in files { try data.write(to: URL(filePath: "\(directory)/\(name)")) }
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        defer { close(listener) }
        guard SocketAddress.loopback(port: 0).call({ bind(listener, $0, $1) }) == 0, listen(listener, 64) == 0 else {
            throw TestKitError("no listener")
        }
        var name = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &size) }
        }
        let port = UInt16(bigEndian: name.sin_port)
        let configuration = """
            \(getuid() == 0 ? "user root;" : "")
            daemon off; worker_processes 1; pid \(directory)/pid; error_log \(directory)/error.log warn;
            events { worker_connections 64; }
            http {
                access_log \(directory)/access.log;
                client_body_temp_path \(directory)/body; proxy_temp_path \(directory)/proxy;
                fastcgi_temp_path \(directory)/fastcgi; uwsgi_temp_path \(directory)/uwsgi;
                scgi_temp_path \(directory)/scgi;
                server {
                    listen 127.0.0.1:\(port) ssl http2;
                    server_name pin.test;
                    ssl_certificate \(Fixture.path("\(chain).chain.pem"));
                    ssl_certificate_key \(Fixture.path("\(chain).key"));
                    ssl_protocols \(protocols);
                    ssl_session_cache builtin;
                    root \(directory);
                }
            }
            """
        try Data(configuration.utf8).write(to: URL(filePath: directory + "/nginx.conf"))
        let process = try ServerProcess(
            "nginx", directory: directory,
            arguments: ["-e", directory + "/error.log", "-p", directory, "-c", directory + "/nginx.conf"],
            listener: listener, environment: ["NGINX=3;"])
        return (process, port)
    }

    /// An `openssl s_server` that presents `CHAIN.chain.pem` and responds with a page about the connection.
    static func openSSL(_ chain: String, version: String) async throws -> (ServerProcess, UInt16) {
        let path = Fixture.path("\(chain).chain.pem")
        let process = try ServerProcess(
            "openssl", directory: makeDirectory(),
            arguments: [
                "s_server", "-www", version, "-accept", "127.0.0.1:0", "-cert", path, "-cert_chain",
                Fixture.path("intermediate.pem"), "-key", Fixture.path("\(chain).key"),
            ])
        let line = try await process.line(with: "ACCEPT ")
        guard let port = line?.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw TestKitError("openssl s_server did not start: \(process.text())")
        }
        return (process, port)
    }
}
