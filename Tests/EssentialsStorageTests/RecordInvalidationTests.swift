import EssentialsTools
import Foundation
import Glibc
import TestTools
import Testing

@testable import EssentialsStorage

/// Invalidations of a key in all partitions.
@Suite struct RecordInvalidationTests {
    private let fixture: RecordFixture

    init() throws { fixture = try RecordFixture() }

    private func directory(
        calls: FileCalls = .system, _ change: (inout RecordDirectory.Configuration) -> Void = { _ in }
    ) -> RecordDirectory {
        fixture.directory(calls: calls) {
            $0.invalidatesAllPartitions = true
            change(&$0)
        }
    }

    @Test("An invalidation removes the records of a key in all partitions, and no others")
    func allPartitions() throws {
        let directory = directory()
        for partition: UInt64 in 1...3 {
            for text in ["a", "b"] { try directory.store(fixture.key(text, partition: partition), text, [1]) }
        }
        try directory.invalidate(fixture.key("a"))
        #expect(fixture.records.count == 3)
        for partition: UInt64 in 1...3 {
            #expect(try directory.record(for: fixture.key("a", partition: partition)) == nil)
            #expect(try directory.record(for: fixture.key("b", partition: partition)) != nil)
        }
        #expect(directory.usage.count == 3 && directory.usage.damaged == 0)
    }

    @Test("Records in unknown partitions are not read any more, and are removed when they are found")
    func unknownPartitions() throws {
        let (one, other) = (directory(), directory())
        try one.store(fixture.key("b"), "b", [1])
        try other.store(fixture.key("a", partition: 7), "a", pattern(5_000))
        try one.invalidate(fixture.key("a"))
        #expect(fixture.records.count == 2)
        #expect(try other.record(for: fixture.key("a", partition: 7)) == nil)
        #expect(fixture.records.count == 1 && fixture.bodies.isEmpty)
        #expect(try other.store(fixture.key("a", partition: 7), "new", [2]) != nil)
        #expect(try directory().record(for: fixture.key("a", partition: 7))?.headText == "new")
    }

    @Test("What began before an invalidation is not stored in any partition, also by other processes")
    func commits() throws {
        let (one, other) = (directory(), directory())
        let (found, condition) = try one.lookup(fixture.key("a", partition: 1))
        #expect(found.isEmpty)
        var writer = try other.begin(fixture.key("a", partition: 2))
        let unconcerned = try one.lookup(fixture.key("b")).condition
        try one.invalidate(fixture.key("a", partition: 3))
        var first = try one.begin(fixture.key("a", partition: 1), if: condition)
        #expect(try first.commit(head: [1]) == nil)
        #expect(try writer.commit(head: [1]) == nil)
        var second = try one.begin(fixture.key("b"), if: unconcerned)
        #expect(try second.commit(head: [1]) != nil)
        #expect(try one.put(fixture.key("a"), head: [1], body: [2].span.bytes))
    }

    @Test("The head of an invalidated record is not replaced")
    func heads() throws {
        let (one, other) = (directory(), directory())
        let record = try #require(try one.store(fixture.key("a", partition: 5), "a", [1]))
        try other.invalidate(fixture.key("a"))
        #expect(try one.replaceHead(of: record, by: [9]) == nil)
    }

    @Test("More keys are invalidated than the file has places, and none comes back")
    func manyKeys() throws {
        let directory = directory()
        let keys = (0..<20).map { number in
            // All in one set.
            RecordKey(
                RecordName(key: UInt128(number + 1) << 64 | 5, partition: 1, group: 1), Array("\(number)".utf8))
        }
        let other = self.directory()
        try other.store(fixture.key("x", group: 2), "x", [1])
        for key in keys { try directory.store(key, "old", [1]) }
        // The other instance does not know these records, and invalidates in another partition, so they stay.
        for key in keys {
            try other.invalidate(RecordKey(RecordName(key: key.name.key, partition: 2, group: 1), key.bytes))
        }
        #expect(fixture.records.count == keys.count + 1)
        for key in keys { #expect(try directory.record(for: key) == nil) }
        for key in keys { try directory.store(key, "new", [1]) }
        for key in keys { #expect(try directory.record(for: key)?.headText == "new") }
        #expect(try directory.record(for: fixture.key("x", group: 2)) != nil)
        #expect(try Data(contentsOf: URL(filePath: fixture.path + "/.invalidations")).count <= 2 << 20)
    }

    @Test("No record with a number of a lost or damaged file is read", arguments: [0, 1, 2, 3])
    func lost(how: Int) throws {
        let name = "/" + KeyInvalidations.fileName
        try directory().store(fixture.key("a"), "a", [1])
        switch how {
        case 0: unlink(fixture.path + name)
        case 1: truncate(fixture.path + name, 0)
        case 2: try fixture.write([UInt8](repeating: 0, count: 64), KeyInvalidations.fileName)
        default: chmod(fixture.path + name, 0o666)
        }
        let other = directory()
        #expect(try other.lookup(fixture.key("a")).records.isEmpty)
        #expect(try other.store(fixture.key("a"), "new", [2]) != nil)
        #expect(try directory().record(for: fixture.key("a"))?.headText == "new")
    }

    @Test("If an invalidation cannot be written, no record of the group is read any more")
    func unwritable() throws {
        let isFaulty = Atomic<Bool>(false)
        var calls = FileCalls.system
        calls.fault = { kind, path in
            isFaulty.load(ordering: .relaxed) && kind == .write && path.hasSuffix(KeyInvalidations.fileName) ? EIO : nil
        }
        let directory = directory(calls: calls)
        for (text, group) in [("a", UInt64(1)), ("b", 1), ("c", 2)] {
            try directory.store(fixture.key(text, partition: group, group: group), text, [1])
        }
        isFaulty.store(true, ordering: .relaxed)
        #expect(throws: FileError.self) { try directory.invalidate(fixture.key("a")) }
        for other in [directory, self.directory()] {
            #expect(try other.record(for: fixture.key("a")) == nil)
            #expect(try other.record(for: fixture.key("b")) == nil)
            #expect(try other.record(for: fixture.key("c", partition: 2, group: 2)) != nil)
        }
    }

    @Test("Records of several keys with one name are told apart by their first number")
    func firstNumbers() throws {
        let directory = directory { $0.recordsPerKey = 4 }
        func key(_ text: String, from number: UInt8) -> RecordKey {
            RecordKey(fixture.key("a").name.numbered(number), Array(text.utf8))
        }
        for number: UInt8 in 0..<4 {
            try directory.store(key("one", from: 0), "one", [1], number: number)
            try directory.store(key("two", from: 252), "two", [2], number: number)
        }
        #expect(try directory.records(for: key("one", from: 0)).count == 4)
        #expect(try directory.records(for: key("two", from: 252)).allSatisfy { $0.headText == "two" })
        #expect(throws: FileError.self) { try directory.store(key("two", from: 253), "x", [2], number: 3) }
        try directory.invalidate(key("one", from: 0))
        #expect(fixture.records.isEmpty)
    }

    @Test("Random stores, invalidations and restarts in two processes against a model", arguments: 0..<6)
    func random(seed: UInt64) throws {
        var numbers = SeededNumbers(state: seed)
        var directories = [directory(), directory()]
        var model: [String: UInt64] = [:]
        var running: [(text: String, partition: UInt64, writer: RecordWriter, isValid: Bool)] = []
        for round in 0..<400 {
            let directory = directories[Int(numbers.next() % 2)]
            let (text, partition) = ("\(numbers.next() % 4)", numbers.next() % 3)
            let key = fixture.key(text, partition: partition)
            switch numbers.next() % 6 {
            case 0:
                try directory.invalidate(key)
                model = model.filter { !$0.key.hasPrefix(text + "/") }
                for index in running.indices where running[index].text == text { running[index].isValid = false }
            case 1: running.append((text, partition, try directory.begin(key), true))
            case 2 where !running.isEmpty:
                var ended = running.remove(at: Int(numbers.next() % UInt64(running.count)))
                let stored = try ended.writer.commit(head: Array("\(round)".utf8))
                #expect((stored != nil) == ended.isValid, "round \(round)")
                if ended.isValid { model["\(ended.text)/\(ended.partition)"] = UInt64(round) }
            case 3 where numbers.next() % 4 == 0:
                for index in running.indices { running[index].writer.abandon() }
                running = []
                directories = [self.directory(), self.directory()]
            default:
                let found = try directory.record(for: key)?.headText
                #expect(found == model["\(text)/\(partition)"].map { "\($0)" }, "round \(round)")
            }
        }
        for index in running.indices { running[index].writer.abandon() }
    }
}
