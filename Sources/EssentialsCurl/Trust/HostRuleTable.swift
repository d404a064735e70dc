import EssentialsTransport

/// The rules of a policy by host. A look-up costs a few hashes, whatever the number of rules is.
struct HostRuleTable: Sendable {
    struct Entry: Sendable {
        let pattern: HostPattern?
        let pins: PinSet?

        /// Whether plain `http` is refused. It is refused even if the pins have expired, but not if they only report.
        var wantsTLS: Bool { pins?.mode == .enforce }
    }

    /// The entries that indexes refer to. The last one is for unlisted hosts, whether or not they are refused.
    let entries: [Entry]
    private let refusesUnlisted: Bool
    private var exact: [String: Int] = [:]
    private var oneLabel: [String: Int] = [:]
    private var anyDepth: [String: Int] = [:]

    init(_ policy: TrustPolicy) {
        var entries: [Entry] = []
        for rule in policy.hosts {
            let host = rule.pattern.host.text
            switch rule.pattern.breadth {
            case .exact: exact[host] = entries.count
            case .oneLabel: oneLabel[host] = entries.count
            case .anyDepth: anyDepth[host] = entries.count
            }
            entries.append(Entry(pattern: rule.pattern, pins: rule.pins))
        }
        refusesUnlisted = policy.unlistedHosts == .refused
        if case .pinned(let pins) = policy.unlistedHosts {
            entries.append(Entry(pattern: nil, pins: pins))
        } else {
            entries.append(Entry(pattern: nil, pins: nil))
        }
        self.entries = entries
    }

    /// Returns the index of the entry for a host, or `nil` if the host is refused.
    func index(for host: HostName) -> Int? {
        if entries.count > 1, let listed = listedIndex(for: host) { return listed }
        return refusesUnlisted ? nil : entries.count - 1
    }

    private func listedIndex(for host: HostName) -> Int? {
        if let index = exact[host.text] ?? anyDepth[host.text] { return index }
        guard !host.isAddress else { return nil }
        var rest = host.text[...]
        var isParent = true
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            let name = String(rest)
            if isParent, let index = oneLabel[name] { return index }
            if let index = anyDepth[name] { return index }
            isParent = false
        }
        return nil
    }
}
