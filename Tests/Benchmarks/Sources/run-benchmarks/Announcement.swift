internal import Foundation

/// The output of a server that has started: `name=value` lines up to `ready`.
enum Announcement {
    /// Waits for the announcement. Empty if the output ends first.
    static func read(from output: FileHandle) -> [String: String] {
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
