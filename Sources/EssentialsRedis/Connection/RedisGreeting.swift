/// What a server says of itself in reply to `HELLO`.
struct RedisGreeting: Sendable {
    /// The name and the version, such as `redis 7.0.15`.
    let software: String
    /// `standalone`, `sentinel` or `cluster`; `nil` if the server does not say it.
    let mode: String?
    /// `master` or `replica`; `nil` if the server does not say it.
    let role: String?

    /// Whether the server takes no changes.
    var isReplica: Bool { role == "slave" || role == "replica" }

    init(_ reply: RESPValue) {
        var texts: [String: String] = [:]
        if case .map(let parts) = reply {
            for place in stride(from: 0, to: parts.count - 1, by: 2) {
                if let name = parts[place].text, let text = parts[place + 1].text { texts[name] = text }
            }
        }
        software = [texts["server"], texts["version"]].compactMap(\.self).joined(separator: " ")
        (mode, role) = (texts["mode"], texts["role"])
    }
}

extension RedisGreeting {
    /// What tells the process of a server from all others, in the reply to `INFO server`; empty if it is not there.
    static func run(in reply: RESPValue) -> [UInt8] {
        guard let text = reply.text else { return [] }
        let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("run_id:") }
        return line.map { Array($0.utf8.dropFirst("run_id:".utf8.count)) } ?? []
    }
}

extension RESPValue {
    /// The text of a status or of bytes; `nil` for other values.
    fileprivate var text: String? {
        switch self {
        case .status(let text): text
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        default: nil
        }
    }
}
