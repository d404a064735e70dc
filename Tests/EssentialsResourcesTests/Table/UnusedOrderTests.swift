import Testing

@testable import EssentialsResources

@Suite struct UnusedOrderTests {
    private func order(count: Int = .max, bytes: Int = .max) -> UnusedOrder<String> {
        UnusedOrder(limits: .init(count: count, bytes: bytes))
    }

    @Test("The entry that was used longest ago is evicted")
    func oldest() throws {
        var order = order(count: 2)
        let inserted = order.insert("a", bytes: 1)
        let a = try #require(inserted)
        _ = order.insert("b", bytes: 1)
        order.touch(a)
        _ = order.insert("c", bytes: 1)
        #expect(order.evict { _ in false } == ["b"])
        #expect(order.evict { _ in false } == [])
        #expect(order.count == 2)
        #expect(order.countedBytes == 2)
    }

    @Test("Bytes count as well, and change with the content")
    func bytes() throws {
        var order = order(bytes: 10)
        let inserted = order.insert("a", bytes: 4)
        let a = try #require(inserted)
        _ = order.insert("b", bytes: 4)
        #expect(order.evict { _ in false } == [])
        order.resize(a, bytes: 7)
        #expect(order.countedBytes == 11)
        #expect(order.evict { _ in false } == ["a"])
        _ = order.insert("c", bytes: .max)
        _ = order.insert("d", bytes: -5)
        #expect(order.evict { _ in false } == ["b", "c"])
        #expect(order.countedBytes == 0)
    }

    @Test("Entries in use are passed over, and come back when they are no longer in use")
    func used() {
        var order = order(count: 1)
        _ = order.insert("a", bytes: 1)
        _ = order.insert("b", bytes: 1)
        #expect(order.evict { $0 == "a" } == [])
        #expect(order.count == 2 && order.countedEntries == 1)
        _ = order.insert("c", bytes: 1)
        // “b” is evicted, “a” returns as the newest, and “c” is evicted for it.
        #expect(order.evict { _ in false } == ["b", "c"])
        #expect(order.count == 1 && order.countedEntries == 1)
    }

    @Test("A call examines at most eight entries of each list")
    func looks() {
        var order = order(count: 0)
        for index in 0..<100 { _ = order.insert("\(index)", bytes: 1) }
        var looks: [String] = []
        let evicted = order.evict {
            looks.append($0); return true
        }
        #expect(evicted == [])
        #expect(looks == (0..<8).map { "\($0)" })
        #expect(order.evict { _ in false } == (8..<16).map { "\($0)" })
    }

    @Test("If everything is in use, an insertion examines one entry of each list")
    func allUsed() {
        var order = order(count: 10)
        for index in 0..<10_000 {
            let slot = order.insert("\(index)", bytes: 1)
            var looks = 0
            #expect(
                order.evict(sparing: slot) { _ in
                    looks += 1; return true
                } == [])
            #expect(looks <= 2)
        }
        #expect(order.count == 10_000 && order.countedEntries == 10)
    }

    @Test("An entry that was just added stays, even if it alone exceeds the limits")
    func spared() throws {
        var order = order(count: 5, bytes: 10)
        _ = order.insert("a", bytes: 1)
        let big = order.insert("b", bytes: 100)
        #expect(order.evict(sparing: big) { _ in false } == ["a"])
        #expect(order.count == 1)
        _ = order.insert("c", bytes: 1)
        #expect(order.evict { _ in false } == ["b"])
    }

    @Test("Lower limits evict at once")
    func limits() {
        var order = order()
        for index in 0..<100 { _ = order.insert("\(index)", bytes: 1) }
        let evicted = order.setLimits(.init(count: 10, bytes: 5)) { $0 == "0" }
        // The entry in use no longer counts.
        #expect(evicted == (1..<95).map { "\($0)" })
        #expect(order.count == 6)
    }

    @Test("Unused entries are dropped on demand, all of them or the older half")
    func drop() {
        var order = order()
        for index in 0..<10 { _ = order.insert("\(index)", bytes: 1) }
        #expect(order.dropUnused(onlyHalf: true) { $0 == "1" } == ["0", "2", "3", "4", "5"])
        #expect(order.dropUnused { $0 == "1" } == ["6", "7", "8", "9"])
        #expect(order.count == 1)
        #expect(order.dropUnused { _ in false } == ["1"])
        #expect(order.dropUnused { _ in false } == [])
    }

    @Test("A free slot is ignored, and used again")
    func slots() throws {
        var order = order()
        let inserted = order.insert("a", bytes: 1)
        let a = try #require(inserted)
        #expect(order.remove(a) == "a")
        #expect(order.remove(a) == nil)
        order.touch(a)
        order.resize(a, bytes: 9)
        order.touch(-1)
        order.touch(1_000)
        #expect(order.count == 0 && order.countedBytes == 0)
        #expect(order.insert("b", bytes: 1) == a)
    }

    @Test("The default limits are 2,048 entries and 32 MiB")
    func defaults() {
        #expect(UnusedOrder<Int>.Limits() == .init(count: 2048, bytes: 33_554_432))
    }
}
