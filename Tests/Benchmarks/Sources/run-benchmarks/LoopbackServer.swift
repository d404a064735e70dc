internal import Foundation

/// An nginx of our own, started by the script `nginx/start` of this package.
///
/// The script stays and stops nginx when its input ends, which it also does if the runner dies in any way.
struct LoopbackServer {
    let caFile: String
    private let ports: [Workload.Endpoint: Int]
    private let processIdentifier: Int32
    private let script: Process
    private let input: Pipe

    static func start() throws(RunnerError) -> LoopbackServer {
        let script = Process()
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        script.executableURL = URL(fileURLWithPath: "../nginx/start", relativeTo: sources).standardizedFileURL
        script.arguments = ["--attached"]
        let input = Pipe()
        let output = Pipe()
        script.standardInput = input
        script.standardOutput = output
        // A client that inherited this end would keep the server alive.
        guard fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC) == 0 else {
            throw RunnerError("fcntl failed: \(errno)")
        }
        do {
            try script.run()
        } catch {
            throw RunnerError("cannot run nginx/start: \(error)")
        }
        let facts = announcement(from: output.fileHandleForReading)
        guard let plain = facts["plain"].flatMap(Int.init), let tls = facts["tls"].flatMap(Int.init),
            let http2 = facts["h2"].flatMap(Int.init), let pid = facts["pid"].flatMap(Int32.init),
            let caFile = facts["ca"]
        else {
            try? input.fileHandleForWriting.close()
            script.waitUntilExit()
            throw RunnerError("nginx/start did not start the server")
        }
        return LoopbackServer(
            caFile: caFile, ports: [.plain: plain, .tls: tls, .http2: http2], processIdentifier: pid, script: script,
            input: input)
    }

    func url(of endpoint: Workload.Endpoint) -> String {
        "\(endpoint == .plain ? "http" : "https")://127.0.0.1:\(ports[endpoint] ?? 0)/small"
    }

    /// Has the script stop nginx. If it died, nginx is stopped by its process identifier.
    func stop() {
        try? input.fileHandleForWriting.close()
        script.waitUntilExit()
        if script.terminationStatus != 0 { kill(processIdentifier, SIGTERM) }
    }

    /// The script's `name=value` lines up to `ready`.
    private static func announcement(from output: FileHandle) -> [String: String] {
        var text = ""
        while !text.hasSuffix("ready\n") {
            let bytes = output.availableData
            if bytes.isEmpty { return [:] }
            text += String(decoding: bytes, as: UTF8.self)
        }
        var facts: [String: String] = [:]
        for line in text.split(separator: "\n") {
            guard let equals = line.firstIndex(of: "=") else { continue }
            facts[String(line[..<equals])] = String(line[line.index(after: equals)...])
        }
        return facts
    }
}
