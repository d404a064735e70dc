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

        var isOver: Bool { first.count > limits.count || first.map { bytes[$0] ?? 0 }.reduce(0, +) > limits.bytes }

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

    @Test("Random sequences evict what two arrays evict", arguments: [1, 2] as [UInt64])
    func random(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        for round in 0..<5_000 {
            var model = Model(limits: (Int.random(in: 0...6, using: &numbers), Int.random(in: 0...40, using: &numbers)))
            var order = UnusedOrder<Int>(limits: .init(count: model.limits.count, bytes: model.limits.bytes))
            var slots: [Int: Int32] = [:]
            var used: Set<Int> = []
            var highest = 0
            for step in 0..<(round % 50 == 0 ? 200 : Int.random(in: 1...30, using: &numbers)) {
                let bytes = Int.random(in: 0...12, using: &numbers)
                let element = slots.keys.sorted().randomElement(using: &numbers)
                var (evicted, expected) = ([Int](), [Int]())
                switch (Int.random(in: 0..<20, using: &numbers), element) {
                case (0..<8, _), (_, nil):
                    slots[step] = order.insert(step, bytes: bytes)
                    model.first.append(step)
                    model.bytes[step] = bytes
                    if Bool.random(using: &numbers) { used.insert(step) }
                    evicted = order.evict(sparing: slots[step]) { used.contains($0) }
                    expected = model.evict(sparing: step, looks: 8, used: used)
                case (8..<11, let element?):
                    order.touch(slots[element] ?? -1)
                    model.touch(element)
                case (11..<13, let element?):
                    #expect(order.remove(slots[element] ?? -1) == element)
                    model.remove(element)
                    slots[element] = nil
                case (13..<15, let element?):
                    order.resize(slots[element] ?? -1, bytes: bytes)
                    model.bytes[element] = bytes
                    evicted = order.evict { used.contains($0) }
                    expected = model.evict(sparing: nil, looks: 8, used: used)
                case (15..<18, let element?):
                    if used.remove(element) == nil { used.insert(element) }
                case (18, _):
                    model.limits = (Int.random(in: 0...6, using: &numbers), Int.random(in: 0...40, using: &numbers))
                    let limits = UnusedOrder<Int>.Limits(count: model.limits.count, bytes: model.limits.bytes)
                    evicted = order.setLimits(limits) { used.contains($0) }
                    expected = model.evict(sparing: nil, looks: .max, used: used)
                default:
                    evicted = order.dropUnused(onlyHalf: step % 2 == 0) { used.contains($0) }
                    expected = model.drop(half: step % 2 == 0, used: used)
                }
                for gone in evicted { slots[gone] = nil }
                highest = max(highest, slots.count)
                #expect(evicted == expected, "seed \(seed), round \(round), step \(step)")
                #expect(
                    order.count == model.first.count + model.second.count, "seed \(seed), round \(round), step \(step)")
                #expect(order.countedEntries == model.first.count, "seed \(seed), round \(round), step \(step)")
                let counted = model.first.map { model.bytes[$0] ?? 0 }.reduce(0, +)
                #expect(order.countedBytes == counted, "seed \(seed), round \(round), step \(step)")
                if evicted != expected { return }
            }
            // Slots are used again, so that none beyond the most entries at a time is taken.
            #expect(slots.values.allSatisfy { $0 <= highest })
        }
    }
}
