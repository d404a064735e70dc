import EssentialsTools
import EssentialsTransport

/// A line of waiting requests: the most urgent ones leave first, and equally urgent ones in order of arrival.
package struct PriorityLine: Sendable {
    private struct Entry: Sendable {
        let number: UInt64
        let priority: RequestPriority
    }

    /// Those that were removed out of turn, or have a higher priority now, stay until they are skipped.
    private var entries = PriorityFifo<Entry>()
    /// The present priority of each request.
    private var waiting: [UInt64: RequestPriority] = [:]

    package init() {}

    package var count: Int { waiting.count }
    package var isEmpty: Bool { waiting.isEmpty }
    /// The number of entries, with those that are to be skipped.
    var storedCount: Int { entries.count }

    /// - Parameter number: A number that no other request in the line has.
    package mutating func append(_ number: UInt64, _ priority: RequestPriority) {
        entries.append(Entry(number: number, priority: priority), level: priority.level)
        waiting[number] = priority
    }

    /// Moves a request behind those that already have a higher priority. A request that is not in the line, or has this
    /// priority or a higher one, is left alone.
    package mutating func raise(_ number: UInt64, to priority: RequestPriority) {
        guard let present = waiting[number], priority > present else { return }
        append(number, priority)
        sweepIfNeeded()
    }

    package mutating func popFirst() -> UInt64? {
        while let entry = entries.popFirst() {
            guard waiting[entry.number] == entry.priority else { continue }
            waiting[entry.number] = nil
            return entry.number
        }
        return nil
    }

    /// Removes a request out of turn, and returns whether it was in the line.
    package mutating func remove(_ number: UInt64) -> Bool {
        guard waiting.removeValue(forKey: number) != nil else { return false }
        sweepIfNeeded()
        return true
    }

    /// A sweep costs about as much as what has happened since the last one.
    private mutating func sweepIfNeeded() {
        guard entries.count > 2 * waiting.count + 32 else { return }
        entries.removeAll { [waiting] in waiting[$0.number] != $0.priority }
    }
}
