import EssentialsStorage
import TestTools
import Testing

@Suite struct EvictionOrderTests {
    /// Inserts and evicts like a store with a budget.
    private func insert(_ key: Int, _ bytes: Int, _ order: inout EvictionOrder<Int>, budget: Int) -> [Int] {
        order.insert(key, bytes: bytes)
        var evicted: [Int] = []
        while order.bytes > budget, let key = order.evict(budget: budget) { evicted.append(key) }
        return evicted
    }

    @Test("Unused entries are evicted in the order of their arrival")
    func order() {
        var order = EvictionOrder<Int>()
        var evicted: [Int] = []
        for key in 0..<10 { evicted += insert(key, 10, &order, budget: 50) }
        #expect(evicted == [0, 1, 2, 3, 4])
        #expect(order.count == 5 && order.bytes == 50)
    }

    @Test("A used entry outlives later ones that were not used")
    func use() {
        var order = EvictionOrder<Int>()
        for key in 0..<5 { _ = insert(key, 10, &order, budget: 50) }
        order.use(0)
        #expect(insert(5, 10, &order, budget: 50) == [1])
        #expect(order.contains(0))
    }

    @Test("A replaced entry keeps its place, which counts as a use, and takes its new size", arguments: [false, true])
    func replaced(isMain: Bool) throws {
        var order = EvictionOrder<Int>()
        for key in 0..<3 { order.insert(key, bytes: 10) }
        if isMain {
            for key in 0..<3 { order.use(key) }
            // All three move to the main queue.
            #expect(order.evict(budget: 0) == 0)
            order.insert(3, bytes: 10)
        }
        let former = order.places
        let entry = try #require(isMain ? former.last : former.first)
        #expect(entry.isMain == isMain)
        order.insert(entry.key, bytes: 25)
        #expect(order.places.map(\.key) == former.map(\.key))
        let place = try #require(order.places.first { $0.key == entry.key })
        #expect(place.uses == entry.uses + 1 && place.bytes == 25 && place.isMain == isMain)
        #expect(order.bytes == former.reduce(15) { $0 + $1.bytes })
        for _ in 0..<1_000 { order.insert(entry.key, bytes: 25) }
        #expect(order.places.map(\.key) == former.map(\.key) && order.bytes(of: entry.key) == 25)
    }

    @Test("A spared entry is not evicted, even if all others are used or there are no others")
    func spared() {
        var order = EvictionOrder<Int>()
        for key in 0..<5 { _ = insert(key, 10, &order, budget: 50) }
        for key in 0..<5 { order.use(key) }
        order.insert(9, bytes: 40)
        var evicted: [Int] = []
        while order.bytes > 50, let key = order.evict(budget: 50, sparing: 9) { evicted.append(key) }
        #expect(order.contains(9) && order.bytes == 50 && evicted.count == 4)
        while let key = order.evict(budget: 50, sparing: 9) { evicted.append(key) }
        #expect(order.bytes == 40 && Set(evicted) == Set(0..<5))
        #expect(order.evict(budget: 50) == 9)
    }

    @Test("Entries that are read once do not displace entries that are used")
    func scan() {
        var order = EvictionOrder<Int>()
        let budget = 1_000
        for key in 0..<50 { _ = insert(key, 10, &order, budget: budget) }
        for _ in 0..<3 { for key in 0..<50 { order.use(key) } }
        for key in 1_000..<21_000 { _ = insert(key, 10, &order, budget: budget) }
        #expect((0..<50).allSatisfy { order.contains($0) })
    }

    @Test("An entry that returns soon after its eviction stays longer than a new one")
    func ghost() {
        var order = EvictionOrder<Int>()
        for key in 0..<6 { _ = insert(key, 10, &order, budget: 50) }
        #expect(!order.contains(0))
        _ = insert(0, 10, &order, budget: 50)
        for key in 10..<14 { _ = insert(key, 10, &order, budget: 50) }
        #expect(order.contains(0))
    }

    @Test("Restored entries are evicted in the same order, and existing entries keep their places")
    func restored() {
        var numbers = SeededNumbers(state: 7)
        var order = EvictionOrder<Int>()
        for _ in 0..<2_000 {
            let key = Int.random(in: 0..<60, using: &numbers)
            if Int.random(in: 0..<3, using: &numbers) == 0 {
                _ = insert(key, Int.random(in: 0...30, using: &numbers), &order, budget: 300)
            } else {
                order.use(key)
            }
        }
        var (restored, other) = (EvictionOrder<Int>(), EvictionOrder<Int>())
        restored.restore(order.places)
        #expect(restored.bytes == order.bytes && restored.places == order.places)
        for key in order.keys { other.insert(key, bytes: 1) }
        other.restore(order.places)
        #expect(other.bytes == order.count)
        while let key = order.evict(budget: 300) { #expect(restored.evict(budget: 300) == key) }
        #expect(restored.count == 0)
    }

    @Test("Sums, counts and evictions agree with a slow model")
    func model() {
        var numbers = SeededNumbers(state: 42)
        var order = EvictionOrder<Int>()
        var present: [Int: Int] = [:]
        for _ in 0..<20_000 {
            let key = Int.random(in: 0..<60, using: &numbers)
            switch Int.random(in: 0..<4, using: &numbers) {
            case 0:
                let size = Int.random(in: 0...30, using: &numbers)
                present[key] = size
                for gone in insert(key, size, &order, budget: 300) {
                    #expect(present.removeValue(forKey: gone) != nil)
                }
            case 1:
                order.remove(key)
                present[key] = nil
            default: order.use(key)
            }
            #expect(order.count == present.count && order.bytes == present.values.reduce(0, +))
            #expect(order.bytes <= 300)
        }
        #expect(Set(order.keys) == Set(present.keys))
        while let key = order.evict(budget: 300) { #expect(present.removeValue(forKey: key) != nil) }
        #expect(present.isEmpty && order.count == 0 && order.bytes == 0)
    }

    /// S3-FIFO with arrays that are searched.
    private struct SlowOrder {
        struct Entry {
            let key: Int
            var bytes: Int
            var uses = 0
        }

        var (small, main, evicted): ([Entry], [Entry], [Int]) = ([], [], [])
        /// What still counts of ``evicted``.
        var ghosts: Set<Int> = []
        var bytes: Int { (small + main).reduce(0) { $0 + $1.bytes } }

        mutating func use(_ key: Int, bytes: Int? = nil) -> Bool {
            for path in [\SlowOrder.small, \.main] {
                guard let index = self[keyPath: path].firstIndex(where: { $0.key == key }) else { continue }
                self[keyPath: path][index].uses = min(self[keyPath: path][index].uses + 1, 3)
                if let bytes { self[keyPath: path][index].bytes = bytes }
                return true
            }
            return false
        }

        mutating func insert(_ key: Int, bytes: Int) {
            if use(key, bytes: bytes) { return }
            if ghosts.remove(key) != nil {
                main.append(Entry(key: key, bytes: bytes))
            } else {
                small.append(Entry(key: key, bytes: bytes))
            }
        }

        mutating func remove(_ key: Int) {
            small.removeAll { $0.key == key }
            main.removeAll { $0.key == key }
        }

        mutating func evict(budget: Int, sparing spared: Int?) -> Int? {
            let (fromSmall, fromMain) = (small.filter { $0.key == spared }, main.filter { $0.key == spared })
            if let spared { remove(spared) }
            defer { (small, main) = (small + fromSmall, main + fromMain) }
            while true {
                let isSmall = !small.isEmpty && (small.reduce(0) { $0 + $1.bytes } > budget / 10 || main.isEmpty)
                guard isSmall || !main.isEmpty else { return nil }
                var entry = isSmall ? small.removeFirst() : main.removeFirst()
                guard entry.uses == 0 else {
                    entry.uses = isSmall ? 0 : entry.uses - 1
                    main.append(entry)
                    continue
                }
                if isSmall, ghosts.insert(entry.key).inserted { evicted.append(entry.key) }
                let count = small.count + main.count + fromSmall.count + fromMain.count
                while isSmall, evicted.count > max(count, 16) { ghosts.remove(evicted.removeFirst()) }
                return entry.key
            }
        }
    }

    @Test("Evictions agree with a slow model", arguments: 1...10 as ClosedRange<UInt64>)
    func slowModel(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        var (order, slow) = (EvictionOrder<Int>(), SlowOrder())
        let budget = 40 * Int(seed)
        for _ in 0..<5_000 {
            let key = Int.random(in: 0..<80, using: &numbers)
            switch Int.random(in: 0..<8, using: &numbers) {
            case 0...3:
                let size = Int.random(in: 0...20, using: &numbers)
                order.insert(key, bytes: size)
                slow.insert(key, bytes: size)
                let spared = Bool.random(using: &numbers) ? key : nil
                while slow.bytes > budget {
                    let expected = slow.evict(budget: budget, sparing: spared)
                    #expect(order.evict(budget: budget, sparing: spared) == expected)
                    if expected == nil { break }
                }
            case 4:
                order.remove(key)
                slow.remove(key)
            default:
                order.use(key)
                _ = slow.use(key)
            }
            #expect(order.bytes == slow.bytes)
        }
        #expect(order.places.map(\.key) == (slow.small + slow.main).map(\.key))
        #expect(order.places.map(\.uses) == (slow.small + slow.main).map(\.uses))
    }
}
