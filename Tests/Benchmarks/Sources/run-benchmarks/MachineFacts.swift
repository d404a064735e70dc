internal import Foundation

/// The machine on which the figures were measured.
struct MachineFacts: Codable {
    let cores: Int
    let processor: String
    let system: String
    let kernel: String
    let libcurl: String
    let nginx: String
    let swift: String
    let build: String
    /// The load average of the minute before the run. Other work on the machine distorts the figures.
    let loadAverage: Double

    static func gather() throws(RunnerError) -> MachineFacts {
        let limit = try LoadClient.select(["bench-limit"])
        #if DEBUG
            let build = "debug: its figures mean nothing"
        #else
            let build = "release"
        #endif
        var loads = [0.0]
        return MachineFacts(
            cores: ProcessInfo.processInfo.processorCount,
            processor: line(startingWith: "model name", of: "/proc/cpuinfo") ?? "unknown",
            system: ProcessInfo.processInfo.operatingSystemVersionString,
            kernel: firstLine(of: "uname", ["-sr"]),
            libcurl: firstLine(of: limit[0].executable.path, ["--version"]),
            nginx: firstLine(of: "nginx", ["-v"]), swift: firstLine(of: "swift", ["--version"]), build: build,
            loadAverage: getloadavg(&loads, 1) == 1 ? loads[0] : -1)
    }

    private static func firstLine(of program: String, _ arguments: [String]) -> String {
        guard let output = try? ChildProcess.run(program, arguments, seconds: 20, joinsErrors: true),
            output.status == 0
        else { return "unknown" }
        return String(decoding: output.standardOutput, as: UTF8.self).split(separator: "\n").first.map(String.init)
            ?? "unknown"
    }

    private static func line(startingWith name: String, of path: String) -> String? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) })
        else { return nil }
        return line.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
