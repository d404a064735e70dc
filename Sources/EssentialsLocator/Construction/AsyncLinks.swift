import EssentialsTools

/// An operation that may wait for others of its kind: an asynchronous factory, or the closing of a locator.
final class WaitNode: Sendable {
    /// The name of the operation in the path of a cycle.
    let label: String

    init(_ label: String) { self.label = label }
}

/// The waits among asynchronous factories and closings, a graph without a lock.
///
/// Synchronous factories are not included. They cannot wait for asynchronous ones, so no cycle contains both.
struct AsyncLinks: Sendable {
    /// The links of this process. The lock is never held during a wait.
    static let shared = Mutex(AsyncLinks())

    private struct Link {
        let to: WaitNode
        var count: Int
    }

    /// The links by the node that waits. A factory may wait for several nodes at once, and for one node several times.
    private var links: [ObjectIdentifier: [Link]] = [:]

    /// Records that `from` waits for `to`, unless that wait would never end: then the path of the cycle is returned.
    mutating func link(_ from: WaitNode, to: WaitNode) -> [String]? {
        if let path = path(from: to, to: from) { return path + [to.label] }
        var known = links[ObjectIdentifier(from)] ?? []
        if let index = known.firstIndex(where: { $0.to === to }) {
            known[index].count += 1
        } else {
            known.append(Link(to: to, count: 1))
        }
        links[ObjectIdentifier(from)] = known
        return nil
    }

    mutating func unlink(_ from: WaitNode, from to: WaitNode) {
        var known = links[ObjectIdentifier(from)] ?? []
        guard let index = known.firstIndex(where: { $0.to === to }) else { return }
        known[index].count -= 1
        if known[index].count == 0 { known.remove(at: index) }
        links[ObjectIdentifier(from)] = known.isEmpty ? nil : known
    }

    /// Whether nothing waits.
    var isEmpty: Bool { links.isEmpty }

    /// The labels from `start` along the links to `goal`, both included, or `nil` if there is no path.
    func path(from start: WaitNode, to goal: WaitNode) -> [String]? {
        var seen: Set<ObjectIdentifier> = []
        return path(from: start, to: goal, seen: &seen)
    }

    private func path(
        from start: WaitNode, to goal: WaitNode, seen: inout Set<ObjectIdentifier>
    ) -> [String]? {
        if start === goal { return [start.label] }
        guard seen.insert(ObjectIdentifier(start)).inserted else { return nil }
        for link in links[ObjectIdentifier(start)] ?? [] {
            if let rest = path(from: link.to, to: goal, seen: &seen) { return [start.label] + rest }
        }
        return nil
    }
}
