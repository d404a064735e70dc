internal import Foundation

/// The program `bench-server`, which responds late or accepts large bodies. It ends when its input is closed.
struct DelayServer {
    let port: Int
    private let process: Process
    private let input: Pipe

    /// - Parameters:
    /// - first: The number of requests that are answered together before the delay applies; see the program.
    /// - delay: The delay in seconds.
    static func start(first: Int, delay: Double) throws(RunnerError) -> DelayServer {
        let process = Process()
        process.executableURL = ProgramFiles.beside("bench-server")
        process.arguments = ["--first", "\(first)", "--delay-ms", "\(Int(delay * 1000))"]
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        // A client that inherited this end would keep the server running.
        guard fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC) == 0 else {
            throw RunnerError("fcntl failed: \(errno)")
        }
        do {
            try process.run()
        } catch {
            throw RunnerError("cannot run bench-server: \(error)")
        }
        guard let port = Announcement.read(from: output.fileHandleForReading)["port"].flatMap(Int.init) else {
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
            throw RunnerError("bench-server did not start")
        }
        return DelayServer(port: port, process: process, input: input)
    }

    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
