/// Finds the files in which the Linux kernel reports memory pressure, in the texts of `/proc/self`.
enum PressureFiles {
    /// The file for the whole system.
    static let system = "/proc/pressure/memory"
    /// Some threads waited for memory for 70 ms within 2 s. A process without privileges may only use windows that are
    /// multiples of 2 s.
    static let low = "some 70000 2000000"
    /// All threads waited for memory for 100 ms within 2 s.
    static let critical = "full 100000 2000000"

    /// The directory of the control group of the process.
    ///
    /// - Parameters:
    ///   - groups: The text of `/proc/self/cgroup`.
    ///   - mounts: The text of `/proc/self/mountinfo`.
    /// - Returns: `nil` without a control group of version 2, or if its directory is not mounted.
    static func directory(groups: String, mounts: String) -> String? {
        // cgroups(7): the line of version 2 has the number 0 and no controllers.
        guard let line = groups.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else { return nil }
        let path = line.dropFirst(3)
        for mount in mounts.split(separator: "\n") {
            // proc_pid_mountinfo(5): optional fields end with a hyphen, which the type of the file system follows.
            let fields = mount.split(separator: " ")
            guard let hyphen = fields.firstIndex(of: "-"), hyphen >= 6, hyphen + 1 < fields.count,
                fields[hyphen + 1] == "cgroup2", let rest = below(unescaped(fields[3]), path)
            else { continue }
            return unescaped(fields[4]) + rest
        }
        return nil
    }

    /// The part of a path below a root, with a slash at its beginning; `nil` if the path is not below it.
    private static func below(_ root: String, _ path: Substring) -> String? {
        if root == "/" { return path == "/" ? "" : String(path) }
        guard path.hasPrefix(root) else { return nil }
        let rest = path.dropFirst(root.count)
        return rest.isEmpty || rest.hasPrefix("/") ? String(rest) : nil
    }

    /// Undoes the octal escapes of spaces, tabs, line breaks and backslashes.
    private static func unescaped(_ field: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(field.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The counters of a control group's `memory.events` that show that its limits were reached.
struct MemoryEvents: Sendable, Equatable {
    /// How often the group was throttled because it was over `memory.high`.
    var high: UInt64 = 0
    /// How often the group was about to exceed `memory.max`.
    var max: UInt64 = 0

    init() {}

    /// Reads the text of the file. Malformed and unknown lines are ignored.
    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let count = UInt64(words[1]) else { continue }
            if words[0] == "high" { high = count }
            if words[0] == "max" { max = count }
        }
    }

    /// The pressure since earlier counters; `nil` if the counters have not grown.
    func pressure(since earlier: MemoryEvents) -> MemoryPressure? {
        if max > earlier.max { return .critical }
        return high > earlier.high ? .low : nil
    }
}
