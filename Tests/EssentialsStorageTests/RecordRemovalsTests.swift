import EssentialsStorage
import Testing

@Suite struct RecordRemovalsTests {
    private let one = RecordName(key: 1, partition: 1, group: 1)
    private let other = RecordName(key: 2, partition: 2, group: 1)

    private func read(_ removals: RecordRemovals) -> RecordRemovals {
        RecordRemovals(bytes: removals.bytes) ?? RecordRemovals(lostAt: .max)
    }

    @Test("A removal forbids only records of its scope that began before it")
    func scope() {
        var removals = RecordRemovals()
        let begun = removals.latest
        removals.begin(RecordScope(partition: 1), isWhole: true)
        for value in [removals, read(removals)] {
            #expect(!value.allowsCommit(of: one, begun: begun) && !value.allowsReading(of: one, begun: begun))
            #expect(value.allowsCommit(of: other, begun: begun) && value.allowsReading(of: other, begun: begun))
            #expect(
                value.allowsCommit(of: one, begun: value.latest) && value.allowsReading(of: one, begun: value.latest))
        }
        let earlier = removals
        removals.finish(earlier, left: [] as [RecordName])
        // The files are removed, but a commit that began before is still refused.
        #expect(!removals.isUnfinished && !removals.allowsCommit(of: one, begun: begun))
    }

    @Test("A removal by condition ends commits of its scope and hides only the records that it names")
    func condition() {
        var removals = RecordRemovals()
        removals.begin(RecordScope(), isWhole: false)
        removals.add([one])
        #expect(!removals.allowsCommit(of: other, begun: 0))
        #expect(removals.allowsReading(of: other, begun: 0) && !removals.allowsReading(of: one, begun: 0))
        #expect(removals.allowsReading(of: one, begun: removals.latest))
    }

    @Test("A scope that is removed again meanwhile stays unfinished when the first removal is finished")
    func twice() {
        var removals = RecordRemovals()
        removals.begin(RecordScope(partition: 1), isWhole: true)
        let first = removals
        removals.begin(RecordScope(partition: 1), isWhole: true)
        removals.finish(first, left: [] as [RecordName])
        #expect(removals.isUnfinished)
    }

    @Test("Each changed or missing byte is found, and a damaged file hides all records")
    func damage() {
        var removals = RecordRemovals()
        removals.begin(RecordScope(partition: 1), isWhole: true)
        removals.add([other])
        #expect(read(removals) == removals)
        let bytes = removals.bytes
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            #expect(RecordRemovals(bytes: changed) == nil, "byte \(index)")
        }
        for count in bytes.indices { #expect(RecordRemovals(bytes: Array(bytes[..<count])) == nil) }
        let lost = RecordRemovals(lostAt: 1_000)
        #expect(!lost.allowsReading(of: RecordName(key: 9, partition: 9, group: 9), begun: 2))
        #expect(!lost.allowsCommit(of: one, begun: 999))
        #expect(lost.allowsReading(of: one, begun: 1_000) && lost.allowsCommit(of: one, begun: 1_000))
    }

    @Test("A removal by condition finishes its own records and no other removal, however many records there are")
    func ends() {
        let many = (0..<5_000 as Range<UInt128>).map { RecordName(key: $0 + 10, partition: 3, group: 3) }
        let beside = RecordName(key: 9, partition: 3, group: 3)
        for removed in [[many[0]], many] {
            var removals = RecordRemovals()
            removals.begin(RecordScope(partition: 3), isWhole: false)
            let begun = removals.latest
            removals.add([one])
            let number = removals.add(removed)
            removals.add([other])
            #expect(removed.allSatisfy { !read(removals).allowsReading(of: $0, begun: begun) })
            #expect(removals.bytes.count <= RecordRemovals.maximumSize)
            removals.finish(number, left: [] as [RecordName])
            #expect(removals.allowsReading(of: removed[0], begun: 0) && removals.allowsReading(of: beside, begun: 0))
            #expect(!removals.allowsReading(of: one, begun: 0) && !removals.allowsReading(of: other, begun: 0))
        }
    }

    @Test("An unfinished scope stays unfinished when more records of it are removed than are recorded one by one")
    func raised() {
        var removals = RecordRemovals()
        removals.begin(RecordScope(partition: 3, group: 3), isWhole: true)
        let begun = removals.latest
        let many = (0..<5_000 as Range<UInt128>).map { RecordName(key: $0, partition: 3, group: 3) }
        let number = removals.add(many)
        #expect(!removals.allowsReading(of: many[0], begun: begun))
        removals.finish(number, left: [] as [RecordName])
        #expect(removals.isUnfinished && !removals.allowsReading(of: many[0], begun: 0))
    }

    @Test("A new removals file does not make records readable that have numbers of a lost file")
    func newFile() {
        var removals = RecordRemovals(startingAt: 100)
        removals.begin(RecordScope(partition: 2), isWhole: true)
        for value in [removals, read(removals)] {
            #expect(!value.allowsReading(of: one, begun: 99) && value.allowsReading(of: one, begun: 100))
            #expect(value.allowsReading(of: one, begun: 0) && !value.allowsReading(of: one, begun: 102))
        }
    }

    @Test("If the removals file is lost, no record with one of its numbers is read")
    func lost() {
        #expect(!RecordRemovals().allowsReading(of: one, begun: 1))
        #expect(RecordRemovals().allowsReading(of: one, begun: 0))
    }

    @Test("Any number of removals takes bounded space and forgets none")
    func bounds() {
        var removals = RecordRemovals()
        for partition in 0..<2_000 as Range<UInt64> {
            removals.begin(RecordScope(partition: partition), isWhole: true)
        }
        #expect(removals.bytes.count <= RecordRemovals.maximumSize)
        for partition in 0..<2_000 as Range<UInt64> {
            let name = RecordName(key: 1, partition: partition, group: 1)
            #expect(!removals.allowsCommit(of: name, begun: 0) && !removals.allowsReading(of: name, begun: 0))
        }
        var single = RecordRemovals()
        single.add((0..<10_000 as Range<UInt64>).map { RecordName(key: 1, partition: $0, group: 1) })
        #expect(single.bytes.count <= RecordRemovals.maximumSize)
        #expect(!single.allowsReading(of: RecordName(key: 1, partition: 9_999, group: 1), begun: 0))
    }
}
