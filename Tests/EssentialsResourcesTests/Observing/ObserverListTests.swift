import EssentialsTestKit
import EssentialsTools
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Observer list")
struct ObserverListTests {
    private final class Receiver: ChangeReceiver {
        let name: Int
        let reportsProgress: Bool

        init(_ name: Int, reportsProgress: Bool = false) {
            self.name = name
            self.reportsProgress = reportsProgress
        }

        func receive(_ change: PendingChange) {}
        func finish() {}
    }

    /// The list as it is described: all observers in order, found by looking at each.
    private struct Model {
        var observers: [(number: UInt64, since: UInt64, name: Int, reports: Bool)] = []
    }

    @Test("Random adds, removals and deliveries give the same as a plain list", arguments: [1, 2, 3, 4] as [UInt64])
    func random(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        for round in 0..<40 {
            var (list, model) = (ObserverList(), Model())
            var version: UInt64 = 0
            var known: [UInt64] = [0, .max / 2]
            // Some rounds remove most of what they add, so that gaps are closed.
            let removals = Int.random(in: 1...9, using: &numbers)
            for step in 0..<600 {
                let place: Comment = "seed \(seed), round \(round), step \(step)"
                version += UInt64.random(in: 0...1, using: &numbers)
                switch Int.random(in: 0..<20, using: &numbers) {
                case ..<10:
                    let reports = Bool.random(using: &numbers)
                    let number = list.add(Receiver(step, reportsProgress: reports), since: version)
                    #expect(!known.dropFirst(2).contains(number), place)
                    known.append(number)
                    model.observers.append((number, version, step, reports))
                case ..<(10 + removals):
                    let number = known.randomElement(using: &numbers) ?? 0
                    guard number > 0 else { continue }
                    let expected = model.observers.first { $0.number == number }?.name
                    #expect((list.receiver(number) as? Receiver)?.name == expected, place)
                    #expect((list.remove(number) as? Receiver)?.name == expected, place)
                    model.observers.removeAll { $0.number == number }
                default:
                    let wanted = UInt64.random(in: 0...(version + 1), using: &numbers)
                    let expected = model.observers.filter { $0.since < wanted }
                    #expect(names(in: list, at: wanted) == expected.map(\.name), place)
                    let reporting = expected.filter(\.reports).map(\.name)
                    #expect(names(in: list, at: wanted, .progress(0.5)) == reporting, place)
                }
                #expect(list.count == model.observers.count, place)
                #expect(list.reportsProgress == model.observers.contains(where: \.reports), place)
            }
            let rest = list.removeAll().compactMap { ($0 as? Receiver)?.name }
            #expect(rest == model.observers.map(\.name), "seed \(seed), round \(round)")
            #expect(list.count == 0 && !list.reportsProgress)
        }
    }

    private static func change(_ version: UInt64, _ event: ResourceEvent = .invalidated) -> PendingChange {
        PendingChange(event: event, views: [], version: version)
    }

    /// The observers of a change, batch by batch.
    private func names(in list: ObserverList, at version: UInt64, _ event: ResourceEvent = .invalidated) -> [Int] {
        var (names, last): ([Int], UInt64) = ([], 0)
        while let batch = list.next(after: last, for: Self.change(version, event)) {
            #expect(batch.members.count <= 64)
            #expect(batch.last > last)
            names += batch.members.compactMap { ($0.receiver as? Receiver)?.name }
            last = batch.last
        }
        return names
    }

    @Test("Observers that leave between two batches are skipped, and those that stay receive the change once")
    func changesBetweenBatches() {
        var list = ObserverList()
        let numbers = (0..<200).map { list.add(Receiver($0), since: 0) }
        var (names, last): ([Int], UInt64) = ([], 0)
        var batches = 0
        while let batch = list.next(after: last, for: Self.change(1)), batches < 1_000 {
            batches += 1
            names += batch.members.compactMap { ($0.receiver as? Receiver)?.name }
            last = batch.last
            // All observers up to the batch, and every second one after it.
            for (index, number) in numbers.enumerated() where number <= last || index.isMultiple(of: 2) {
                _ = list.remove(number)
            }
            if let end = numbers.last, last <= end { _ = list.add(Receiver(-1), since: 1) }
        }
        #expect(names == Array(0..<64) + (64..<200).filter { !$0.isMultiple(of: 2) })
    }
}

@Suite("Bounds of waiting changes", .leavesNothing)
struct WaitingChangesTests {
    private final class Collector: ChangeReceiver {
        private let collected = Mutex<[PendingChange]>([])
        var changes: [PendingChange] { collected.withLock { $0 } }
        func receive(_ change: PendingChange) { collected.withLock { $0.append(change) } }
        func finish() {}
    }

    /// The first changes of a resource.
    private func changes(_ count: Int) throws -> [PendingChange] {
        let item: Resource<Int> = try ResourceFixture().service.resource("item")
        let collector = Collector()
        let number = item.core.add(collector)
        for number in 1..<count { item.override(with: number) }
        item.core.remove(observer: number)
        return collector.changes
    }

    @Test("A mailbox keeps 1,024 changes, then the newest, which counts the missed ones")
    func mailbox() throws {
        let changes = try changes(3_000)
        let mailbox = ObserverQueue()
        for (index, change) in changes.enumerated() { #expect(mailbox.post(change) == (index == 0)) }
        var taken: [PendingChange] = []
        while let change = mailbox.next() { taken.append(change) }
        #expect(taken.map(\.version) == Array(0..<1_023) + [2_999])
        #expect(taken.map(\.missed) == Array(repeating: 0, count: 1_023) + [3_000 - 1_024])
        // The mailbox was found empty, so its reader must be started again.
        #expect(mailbox.post(changes[0]))
        mailbox.close()
        #expect(mailbox.next() == nil)
        #expect(!mailbox.post(changes[0]))
    }

    @Test(
        "A buffer drops the oldest changes over its limit, and the next one has the number of missed ones",
        arguments: [(1, 1), (1, 10), (4, 4), (4, 5), (64, 200), (0, 3), (-1, 3)])
    func buffer(limit: Int, count: Int) async throws {
        let buffer = ChangeBuffer(limit: limit)
        let kept = min(max(limit, 1), count)
        for change in try changes(count) { buffer.receive(change) }
        buffer.finish()
        var taken: [PendingChange] = []
        while let change = await buffer.next() { taken.append(change) }
        #expect(taken.map(\.version) == (count - kept..<count).map { UInt64($0) })
        #expect(taken.map(\.missed) == [count - kept] + Array(repeating: 0, count: kept - 1))
    }

    @Test("Random receiving and reading counts every lost change", arguments: [1, 2, 3, 4] as [UInt64])
    func randomBuffer(seed: UInt64) async throws {
        let changes = try changes(2_000)
        var numbers = SeededNumbers(state: seed)
        let buffer = ChangeBuffer(limit: Int.random(in: 1...20, using: &numbers))
        var (rest, accounted, last) = (changes[...], 0, -1)
        while !rest.isEmpty {
            for change in rest.prefix(Int.random(in: 1...30, using: &numbers)) {
                buffer.receive(change)
                rest = rest.dropFirst()
            }
            if rest.isEmpty { buffer.finish() }
            for _ in 0..<Int.random(in: 1...5, using: &numbers) {
                let isEmpty = accounted == changes.count - rest.count
                guard !isEmpty, let change = await buffer.next() else { break }
                #expect(Int(change.version) == last + 1 + change.missed, "seed \(seed)")
                last = Int(change.version)
                accounted += 1 + change.missed
            }
        }
        while let change = await buffer.next() { accounted += 1 + change.missed }
        #expect(accounted == changes.count, "seed \(seed)")
    }
}
