import EssentialsTransport

/// A line of waiting requests: the most urgent ones leave first, and equally urgent ones in order of arrival.
package struct PriorityLine: Sendable {
    private struct Level {
        /// Numbers in order of arrival. Those that were removed out of turn, or have a higher priority now, stay until
        /// they are skipped.
        var numbers: [UInt64] = []
        var first = 0
    }

    /// The most urgent level first. It is empty until the first request waits.
    private var levels: [Level] = []
    /// The present priority of each request.
    private var waiting: [UInt64: RequestPriority] = [:]
    /// The number of elements of all levels.
    private(set) var storedCount = 0

    package init() {}

    package var count: Int { waiting.count }
    package var isEmpty: Bool { waiting.isEmpty }

    /// - Parameter number: A number that no other request in the line has.
    package mutating func append(_ number: UInt64, _ priority: RequestPriority) {
        if levels.isEmpty { levels = RequestPriority.allCases.map { _ in Level() } }
        levels[Self.level(of: priority)].numbers.append(number)
        waiting[number] = priority
        storedCount += 1
    }

    /// Moves a request behind those that already have a higher priority. A request that is not in the line, or has this
    /// priority or a higher one, is left alone.
    package mutating func raise(_ number: UInt64, to priority: RequestPriority) {
        guard let present = waiting[number], priority > present else { return }
        append(number, priority)
        sweepIfNeeded()
    }

    package mutating func popFirst() -> UInt64? {
        for index in levels.indices {
            while levels[index].first < levels[index].numbers.count {
                let number = levels[index].numbers[levels[index].first]
                levels[index].first += 1
                storedCount -= 1
                if levels[index].first == levels[index].numbers.count {
                    levels[index] = Level()
                } else if levels[index].first >= 64, levels[index].first * 2 >= levels[index].numbers.count {
                    // A number is moved at most once for every number that has left.
                    levels[index].numbers.removeFirst(levels[index].first)
                    levels[index].first = 0
                }
                if isLive(number, at: index) {
                    waiting[number] = nil
                    return number
                }
            }
        }
        return nil
    }

    /// Removes a request out of turn, and returns whether it was in the line.
    package mutating func remove(_ number: UInt64) -> Bool {
        guard waiting.removeValue(forKey: number) != nil else { return false }
        sweepIfNeeded()
        return true
    }

    private static func level(of priority: RequestPriority) -> Int {
        RequestPriority.allCases.count - 1 - priority.rawValue
    }

    private func isLive(_ number: UInt64, at level: Int) -> Bool { waiting[number].map(Self.level) == level }

    /// A sweep costs about as much as what has happened since the last one.
    private mutating func sweepIfNeeded() {
        if storedCount > 2 * waiting.count + 32 { sweep() }
    }

    private mutating func sweep() {
        for index in levels.indices {
            let kept = levels[index].numbers[levels[index].first...].filter { isLive($0, at: index) }
            levels[index] = Level(numbers: kept)
        }
        storedCount = waiting.count
    }
}
