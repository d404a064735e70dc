import ArgumentParser

/// A set of statuses such as `200-299,404`.
struct StatusSet: Sendable, Equatable {
    let ranges: [ClosedRange<Int>]

    /// 200 to 299.
    static let successful = StatusSet(ranges: [200...299])

    init(_ text: String) throws {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        ranges = try parts.map(Self.range)
    }

    func contains(_ status: Int) -> Bool { ranges.contains { $0.contains(status) } }

    private init(ranges: [ClosedRange<Int>]) { self.ranges = ranges }

    private static func range(_ part: Substring) throws -> ClosedRange<Int> {
        let ends = part.split(separator: "-", omittingEmptySubsequences: false).map(status)
        guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1], first <= last else {
            throw ValidationError("Write statuses such as 200, 200-299 or 200-299,404.")
        }
        return first...last
    }

    private static func status(_ text: Substring) -> Int? {
        guard text.utf8.count == 3, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text).flatMap { $0 >= 100 ? $0 : nil }
    }
}
