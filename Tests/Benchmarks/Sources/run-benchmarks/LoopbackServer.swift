internal import Foundation

/// An nginx that is started by the script `nginx/start` of this package.
///
/// The script keeps running, and stops nginx when its input is closed, which also happens if the
/// runner ends for any reason.
struct LoopbackServer {
    let caFile: String
    /// The file with the system's authorities and the server's own.
    let bundleFile: String
    /// The large file that is served as `/file`.
    let largeFile: String
    private let ports: [Workload.Endpoint: Int]
    private let processIdentifier: Int32
    private let script: Process
    private let input: Pipe

    /// - Parameter fileMiB: The size of the large file; 0 for no file.
    static func start(fileMiB: Int) throws(RunnerError) -> LoopbackServer {
        let script = Process()
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        script.executableURL = URL(fileURLWithPath: "../nginx/start", relativeTo: sources).standardizedFileURL
        script.arguments = ["--attached", "--file-mib", "\(fileMiB)"]
        let input = Pipe()
        let output = Pipe()
        script.standardInput = input
        script.standardOutput = output
        // A client that inherited this end would keep the server running.
        guard fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC) == 0 else {
            throw RunnerError("fcntl failed: \(errno)")
        }
        do {
            try script.run()
        } catch {
            throw RunnerError("cannot run nginx/start: \(error)")
        }
        let facts = Announcement.read(from: output.fileHandleForReading)
        guard let plain = facts["plain"].flatMap(Int.init), let tls = facts["tls"].flatMap(Int.init),
            let http2 = facts["h2"].flatMap(Int.init), let fresh = facts["fresh"].flatMap(Int.init),
            let pid = facts["pid"].flatMap(Int32.init), let caFile = facts["ca"], let bundleFile = facts["bundle"],
            let largeFile = facts["file"]
        else {
            try? input.fileHandleForWriting.close()
            script.waitUntilExit()
            throw RunnerError("nginx/start did not start the server")
        }
        return LoopbackServer(
            caFile: caFile, bundleFile: bundleFile, largeFile: largeFile,
            ports: [.plain: plain, .tls: tls, .http2: http2, .freshTLS: fresh], processIdentifier: pid, script: script,
            input: input)
    }

    func url(of endpoint: Workload.Endpoint, path: String) -> String {
        "\(endpoint == .plain ? "http" : "https")://127.0.0.1:\(ports[endpoint] ?? 0)\(path)"
    }

    /// Restricts the server to these cores, such as `0` or `0-2`.
    func pin(toCores cores: String) throws(RunnerError) {
        let children = "/proc/\(processIdentifier)/task/\(processIdentifier)/children"
        let workers = (try? String(contentsOfFile: children, encoding: .utf8))?.split(separator: " ") ?? []
        if workers.isEmpty { throw RunnerError("cannot tell nginx's workers from \(children)") }
        for worker in workers {
            let result = try ChildProcess.run(
                "taskset", ["--pid", "--cpu-list", cores, "\(worker)"], seconds: 10, joinsErrors: true)
            if result.status != 0 { throw RunnerError("taskset cannot pin nginx to \(cores)") }
        }
    }

    /// Makes the script stop nginx. If the script has died, nginx is stopped by its process identifier.
    func stop() {
        try? input.fileHandleForWriting.close()
        script.waitUntilExit()
        if script.terminationStatus != 0 { kill(processIdentifier, SIGTERM) }
    }
}
