internal import Dispatch
internal import Foundation

/// A program that has run to its end.
struct ChildProcess {
    let status: Int32
    let standardOutput: Data

    /// Runs a program, found through `PATH` if its name has no slash, and waits for its end.
    ///
    /// The output must fit into a pipe's buffer. A program that takes longer than `seconds` is killed.
    static func run(
        _ program: String, _ arguments: [String], seconds: Double, joinsErrors: Bool = false
    ) throws(RunnerError) -> ChildProcess {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.environment = environment
        let output = Pipe()
        process.standardOutput = output
        if joinsErrors { process.standardError = output }
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        do {
            try process.run()
        } catch {
            throw RunnerError("cannot run \(program): \(error)")
        }
        if ended.wait(timeout: .now() + seconds) == .timedOut {
            kill(process.processIdentifier, SIGKILL)
            ended.wait()
            throw RunnerError("took longer than \(Int(seconds)) s and was killed")
        }
        let bytes = (try? output.fileHandleForReading.readToEnd()) ?? Data()
        return ChildProcess(status: process.terminationStatus, standardOutput: bytes)
    }

    /// This process's environment without proxies, because the load must stay on the machine, and without other
    /// authorities than the system's.
    static var environment: [String: String] {
        ProcessInfo.processInfo.environment.filter { name, _ in
            !name.lowercased().hasSuffix("_proxy") && !["SSL_CERT_FILE", "SSL_CERT_DIR"].contains(name)
        }
    }
}
