import EssentialsTools

/// Tracks a locator and its descendants, to find those that were never closed although they hold ``Closeable``
/// services.
package final class ScopeWatch: Sendable {
    private struct Seen {
        var open: [WeakReference<ServiceLocator>] = []
        var released: [String] = []
    }

    private let seen = Mutex(Seen())

    package init() {}

    /// A line for each ``Closeable`` service in a locator that was not closed.
    package var unclosed: [String] {
        let (open, released) = seen.withLock { ($0.open, $0.released) }
        let alive = open.compactMap(\.object).filter { !$0.isClosed }
        return released + alive.flatMap { Self.lines(name: $0.name, labels: $0.closeableLabels) }
    }

    func opened(_ locator: ServiceLocator) {
        seen.withLock { $0.open.append(WeakReference(locator)) }
    }

    func released(name: String, unclosed labels: [String]) {
        seen.withLock { $0.released += Self.lines(name: name, labels: labels) }
    }

    private static func lines(name: String, labels: [String]) -> [String] {
        labels.map { "\($0) in \"\(name)\"" }
    }
}
