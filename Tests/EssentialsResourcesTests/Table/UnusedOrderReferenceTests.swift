import TestTools
import Testing

@testable import EssentialsResources

/// Compares the linked entries with two arrays.
@Suite struct UnusedOrderReferenceTests {
    /// The two lists as arrays, the oldest first.
    private struct Model {
        var first: [Int] = []
        var second: [Int] = []
        var bytes: [Int: Int] = [:]
        var limits: (count: Int, bytes: Int)

        var countedBytes: Int { first.reduce(0) { $0 + (bytes[$1] ?? 0) } }
        var isOver: Bool { first.count > limits.count || countedBytes > limits.bytes }

        mutating func remove(_ element: Int) {
            first.removeAll { $0 == element }
            second.removeAll { $0 == element }
            bytes[element] = nil
        }

        mutating func touch(_ element: Int) {
            guard let index = first.firstIndex(of: element) else { return }
            first.append(first.remove(at: index))
        }

        mutating func evict(sparing spared: Int?, looks maximum: Int, used: Set<Int>) -> [Int] {
            var (evicted, looked, again) = ([Int](), 0, 0)
            while looked < maximum {
                if isOver {
                    guard let oldest = first.first, oldest != spared else { break }
                    looked += 1
                    first.removeFirst()
                    if used.contains(oldest) {
                        second.append(oldest)
                    } else {
                        bytes[oldest] = nil
                        evicted.append(oldest)
                    }
                } else {
                    guard again < looked, !second.isEmpty else { break }
                    again += 1
                    let oldest = second.removeFirst()
                    if used.contains(oldest) { second.append(oldest) } else { first.append(oldest) }
                }
            }
            return evicted
        }

        mutating func drop(half: Bool, used: Set<Int>) -> [Int] {
            let unused = (second + first).filter { !used.contains($0) }
            let dropped = Array(half ? unused.prefix((unused.count + 1) / 2) : unused[...])
            for element in dropped { remove(element) }
            return dropped
        }
    }

    /// The order and the arrays, with their common inputs.
    private struct Subject {
        var order: UnusedOrder<Int>
        var model: Model
        var slots: [Int: Int32] = [:]
        /// The keys of ``slots``.
        var members: [Int] = []
        var used: Set<Int> = []
        var highest = 0

        init(_ numbers: inout SeededNumbers) {
            model = Model(limits: Self.limits(&numbers))
            order = UnusedOrder<Int>(limits: .init(count: model.limits.count, bytes: model.limits.bytes))
        }

        private static func limits(_ numbers: inout SeededNumbers) -> (Int, Int) {
            (Int.random(in: 0...6, using: &numbers), Int.random(in: 0...40, using: &numbers))
        }

        private mutating func forget(_ element: Int) {
            slots[element] = nil
            members.removeAll { $0 == element }
        }

        /// Performs the same step on both.
        ///
        /// - Returns: Whether both are equal afterwards, and have evicted the same.
        mutating func perform(_ step: Int, _ numbers: inout SeededNumbers) -> Bool {
            let bytes = Int.random(in: 0...12, using: &numbers)
            let element = members.randomElement(using: &numbers)
            var (evicted, expected) = ([Int](), [Int]())
            switch (Int.random(in: 0..<22, using: &numbers), element) {
            case (0..<8, _), (_, nil):
                slots[step] = order.insert(step, bytes: bytes)
                members.append(step)
                model.first.append(step)
                model.bytes[step] = bytes
                if Int.random(in: 0..<3, using: &numbers) == 0 { used.insert(step) }
                evicted = order.evict(sparing: slots[step]) { used.contains($0) }
                expected = model.evict(sparing: step, looks: 8, used: used)
            case (8..<11, let element?):
                order.touch(slots[element] ?? -1)
                model.touch(element)
            case (11..<13, let element?):
                guard order.remove(slots[element] ?? -1) == element else { return false }
                model.remove(element)
                forget(element)
            case (13..<15, let element?):
                order.resize(slots[element] ?? -1, bytes: bytes)
                model.bytes[element] = bytes
                evicted = order.evict { used.contains($0) }
                expected = model.evict(sparing: nil, looks: 8, used: used)
            case (15..<20, let element?):
                if used.remove(element) == nil { used.insert(element) }
            case (20, _):
                model.limits = Self.limits(&numbers)
                let limits = UnusedOrder<Int>.Limits(count: model.limits.count, bytes: model.limits.bytes)
                evicted = order.setLimits(limits) { used.contains($0) }
                expected = model.evict(sparing: nil, looks: .max, used: used)
            default:
                evicted = order.dropUnused(onlyHalf: step % 2 == 0) { used.contains($0) }
                expected = model.drop(half: step % 2 == 0, used: used)
            }
            for gone in evicted { forget(gone) }
            highest = max(highest, members.count)
            return evicted == expected && order.count == model.first.count + model.second.count
                && order.countedEntries == model.first.count && order.countedBytes == model.countedBytes
        }
    }

    @Test("Random sequences evict the same entries as two arrays", arguments: RandomSequences.seeds)
    func random(seed: UInt64) async {
        var numbers = SeededNumbers(state: seed)
        for sequence in 0..<RandomSequences.count {
            await Task.yield()
            var subject = Subject(&numbers)
            for step in 0..<RandomSequences.steps where !subject.perform(step, &numbers) {
                Issue.record("seed \(seed), sequence \(sequence), step \(step)")
                return
            }
            // Slots are used again, so no slot beyond the largest number of simultaneous entries is taken.
            guard subject.slots.values.allSatisfy({ $0 <= subject.highest }) else {
                Issue.record("seed \(seed), sequence \(sequence): a slot was not used again")
                return
            }
        }
    }
}
