internal import Figures
internal import Foundation

/// Hits a second beside HTTP caches of Python, measured in the same run by the script `python/cache-peers`.
enum Peers {
    /// - Parameters:
    ///   - python: The interpreter, in whose environment the caches are installed.
    ///   - memory: Our time for a hit in memory, in microseconds.
    ///   - files: The same in files.
    static func measure(_ python: String, requests: Int, memory: Double, files: Double) throws -> [Row] {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../python/cache-peers")
        let process = Process()
        process.executableURL = URL(filePath: python)
        process.arguments = [script.path, "\(requests)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchmarkError("\(script.path) has failed") }
        return try String(decoding: bytes, as: UTF8.self).split(separator: "\n").flatMap { line in
            let parts = line.split(separator: "\t")
            guard parts.count == 2, let rate = Double(parts[1]), rate > 0 else { throw BenchmarkError("\(line)") }
            let ours = 1e6 / (parts[0].hasSuffix("in memory") ? memory : files)
            return [
                Row(what: "\(parts[0]): hits a second", value: rate, unit: "", digits: 0),
                Row(what: "    ours", value: ours / rate, unit: "x", digits: 1, goal: .atLeast(1)),
            ]
        }
    }
}
