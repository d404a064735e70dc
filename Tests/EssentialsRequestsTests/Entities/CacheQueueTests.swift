import EssentialsHTTP
import EssentialsStorage
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests

@Suite("Entity caches: what waits to be written")
struct CacheQueueTests {
    private func entity(_ number: Int, bytes: Int = 0) -> StoredEntity {
        StoredEntity(
            body: Data(repeating: 0, count: bytes), status: 200 + number,
            date: Date(timeIntervalSinceReferenceDate: 0))
    }

    private func describe(_ work: WriteBehind.Work?) -> String {
        switch work {
        case nil: "nothing"
        case .removeAll(_, let number): "remove all \(number)"
        case .change(let key, .store(let entity)): "store \(key.url.dropFirst(10)) \(entity.status - 200)"
        case .change(let key, .revalidate): "renew \(key.url.dropFirst(10))"
        case .change(let key, .remove): "remove \(key.url.dropFirst(10))"
        }
    }

    // The macro cannot call functions that change a value, so these take its result.
    private func expectWork<Work: Equatable>(
        _ found: Work, _ expected: Work, sourceLocation: SourceLocation = #_sourceLocation
    ) { #expect(found == expected, sourceLocation: sourceLocation) }
    private func isTrue(_ found: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        expectWork(found, true, sourceLocation: sourceLocation)
    }
    private func isFalse(_ found: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        expectWork(found, false, sourceLocation: sourceLocation)
    }

    /// Works until nothing is left.
    private func drain(_ queue: inout WriteBehind) -> [String] {
        var done: [String] = []
        while let work = queue.next() {
            done.append(describe(work))
            queue.end(isDone: true)
        }
        return done
    }

    @Test("Of several changes of a key their sum is written, in the place of the first")
    func sums() {
        var queue = WriteBehind()
        queue.add(.store(entity(1)), for: key(1))
        queue.add(.store(entity(2)), for: key(2))
        queue.add(.store(entity(3)), for: key(1))
        queue.add(.remove, for: key(2))
        queue.add(.revalidate(EntityConfirmation(date: Date(timeIntervalSinceReferenceDate: 5))), for: key(3))
        queue.add(.store(entity(4)), for: key(3))
        queue.add(.remove, for: key(4))
        queue.add(.revalidate(EntityConfirmation(date: Date(timeIntervalSinceReferenceDate: 5))), for: key(4))
        expectWork(drain(&queue), ["store 1 3", "remove 2", "store 3 4", "remove 4"])
        #expect(queue.isIdle)
    }

    @Test("A confirmation of an entity that waits renews the entity")
    func confirmation() {
        var queue = WriteBehind()
        let date = Date(timeIntervalSinceReferenceDate: 5)
        queue.add(.store(entity(1)), for: key(1))
        queue.add(.revalidate(EntityConfirmation(headerFields: [.eTag: "1"], date: date)), for: key(1))
        guard case .entity(let known) = queue.knowledge(of: key(1)) else {
            Issue.record("The entity is not known.")
            return
        }
        #expect(known.date == date && known.headerFields[.eTag] == "1")
        queue.add(.revalidate(EntityConfirmation(headerFields: [.server: "s"], date: date)), for: key(2))
        queue.add(.revalidate(EntityConfirmation(headerFields: [.eTag: "2"], date: date)), for: key(2))
        let sum = EntityConfirmation(headerFields: [.server: "s", .eTag: "2"], date: date)
        #expect(queue.knowledge(of: key(2)) == .cached(sum))
    }

    @Test("A confirmation of another entity than the one that waits changes nothing, and the later of two counts")
    func otherConfirmation() {
        var queue = WriteBehind()
        let (date, later) = (Date(timeIntervalSinceReferenceDate: 5), Date(timeIntervalSinceReferenceDate: 6))
        var two = entity(1)
        two.headerFields[.eTag] = "2"
        queue.add(.store(two), for: key(1))
        queue.add(.revalidate(EntityConfirmation(date: later, entityTag: "1")), for: key(1))
        #expect(queue.knowledge(of: key(1)) == .entity(two))
        let first = EntityConfirmation(headerFields: [.server: "s"], date: date, entityTag: "1")
        let second = EntityConfirmation(headerFields: [.eTag: "W/1"], date: later, entityTag: "1")
        queue.add(.revalidate(first), for: key(2))
        queue.add(.revalidate(second), for: key(2))
        let sum = EntityConfirmation(headerFields: [.server: "s", .eTag: "W/1"], date: later, entityTag: "1")
        #expect(queue.knowledge(of: key(2)) == .cached(sum))
        // What the first two have confirmed has this tag now.
        let third = EntityConfirmation(date: later, entityTag: "W/1")
        queue.add(.revalidate(third), for: key(2))
        #expect(queue.knowledge(of: key(2)) == .cached(sum))
        let other = EntityConfirmation(date: later, entityTag: "3")
        queue.add(.revalidate(other), for: key(2))
        #expect(queue.knowledge(of: key(2)) == .cached(other))
    }

    @Test("A date confirms an entity without a tag only")
    func confirmedByDate() {
        let confirmation = EntityConfirmation(date: Date(timeIntervalSinceReferenceDate: 5), lastModified: "a")
        #expect(confirmation.confirms([.lastModified: "a"]))
        #expect(!confirmation.confirms([.lastModified: "b"]))
        #expect(!confirmation.confirms([.lastModified: "a", .eTag: "1"]))
        #expect(!confirmation.confirms([:]))
    }

    @Test("A change waits until the one before for its key has ended, and is known meanwhile")
    func running() {
        var queue = WriteBehind()
        queue.add(.store(entity(1)), for: key(1))
        expectWork(describe(queue.next()), "store 1 1")
        #expect(queue.knowledge(of: key(1)) == .entity(entity(1)))
        queue.add(.remove, for: key(1))
        expectWork(describe(queue.next()), "nothing")
        #expect(queue.knowledge(of: key(1)) == .none)
        queue.end(isDone: true)
        expectWork(describe(queue.next()), "remove 1")
        #expect(queue.knowledge(of: key(1)) == .none)
        queue.end(isDone: true)
        #expect(queue.knowledge(of: key(1)) == .cached(nil))
    }

    @Test("The removal of a scope drops what waits for it, comes first, and hides its keys until it has ended")
    func scopes() {
        var queue = WriteBehind()
        queue.add(.store(entity(1)), for: key(1))
        queue.add(.store(entity(2)), for: key(2))
        let one = key(1)
        queue.removeAll(in: EntityScope(matching: { $0 == one }))
        #expect(queue.knowledge(of: key(1)) == .none)
        #expect(queue.knowledge(of: key(2)) == .entity(entity(2)))
        expectWork(describe(queue.next()), "remove all 3")
        #expect(queue.knowledge(of: key(1)) == .none)
        queue.add(.store(entity(3)), for: key(1))
        #expect(queue.knowledge(of: key(1)) == .entity(entity(3)))
        queue.end(isDone: true)
        expectWork(drain(&queue), ["store 2 2", "store 1 3"])
    }

    @Test("A removal that failed is tried again, an entity that failed is not")
    func failures() {
        var queue = WriteBehind()
        queue.add(.store(entity(1)), for: key(1))
        queue.add(.remove, for: key(2))
        queue.removeAll(in: EntityScope(partition: "p"))
        expectWork(describe(queue.next()), "remove all 3")
        queue.end(isDone: false)
        expectWork(describe(queue.next()), "remove all 3")
        queue.end(isDone: true)
        expectWork(describe(queue.next()), "store 1 1")
        queue.end(isDone: false)
        expectWork(describe(queue.next()), "remove 2")
        queue.end(isDone: false)
        expectWork(describe(queue.next()), "remove 2")
        // What was stored in place of a removed entity does not bring that one back if it fails.
        queue.add(.store(entity(5)), for: key(2))
        queue.end(isDone: false)
        expectWork(describe(queue.next()), "store 2 5")
        queue.end(isDone: false)
        expectWork(drain(&queue), ["remove 2"])
    }

    @Test("Over the number of changes the oldest entities are dropped, and removals never")
    func count() {
        var queue = WriteBehind(maximumCount: 3)
        for number in 1...4 { queue.add(.store(entity(number)), for: key(number)) }
        queue.add(.remove, for: key(9))
        #expect(queue.dropped == 2)
        #expect(queue.count == 3)
        expectWork(drain(&queue), ["store 3 3", "store 4 4", "remove 9"])
        for number in 1...3 { queue.add(.remove, for: key(number)) }
        queue.add(.store(entity(4)), for: key(4))
        #expect(queue.knowledge(of: key(4)) == .cached(nil))
        queue.add(.remove, for: key(5))
        // Too many removals become one of everything.
        guard case .removeAll(let scope, _) = queue.next() else {
            Issue.record("There is no removal of everything.")
            return
        }
        #expect(scope.contains(key(77)))
        queue.end(isDone: true)
        #expect(queue.isIdle)
    }

    @Test("Over the size the oldest entities are dropped, and become removals if they replaced one")
    func size() {
        var queue = WriteBehind(maximumBytes: 3_000)
        queue.add(.remove, for: key(1))
        queue.add(.store(entity(1, bytes: 1_000)), for: key(1))
        queue.add(.store(entity(2, bytes: 1_000)), for: key(2))
        queue.add(.store(entity(3, bytes: 2_500)), for: key(3))
        #expect(queue.dropped == 2)
        #expect(queue.knowledge(of: key(1)) == .none)
        expectWork(drain(&queue), ["remove 1", "store 3 3"])
        queue.add(.store(entity(4, bytes: 3_001)), for: key(4))
        #expect(queue.isIdle && queue.bytes == 0)
    }

    @Test("Three faults in a row rest a cache for 30 seconds, and one of them is logged")
    func rest() {
        var rest = CacheRest()
        isTrue(rest.failed(at: .zero))
        isFalse(rest.failed(at: .zero))
        rest.succeeded()
        isTrue(rest.failed(at: .seconds(1)))
        isFalse(rest.failed(at: .seconds(1)))
        #expect(!rest.isResting(at: .seconds(1)))
        isFalse(rest.failed(at: .seconds(2)))
        #expect(rest.isResting(at: .seconds(2)))
        #expect(rest.isResting(at: .milliseconds(31_999)))
        #expect(!rest.isResting(at: .seconds(32)))
    }
}

/// What a cache holds for each of a few keys: the number of an entity and of its last confirmation.
private typealias Held = [Int: (entity: Int, confirmation: Int)]

private func key(_ number: Int) -> EntityKey { EntityKey(url: "https://h/\(number)", stage: "raw") }

private func apply(_ change: WriteBehind.Change, _ number: Int, to held: inout Held) {
    switch change {
    case .store(let entity): held[number] = (entity.status, Int(entity.date.timeIntervalSinceReferenceDate))
    case .revalidate(let confirmation):
        held[number]?.confirmation = Int(confirmation.date.timeIntervalSinceReferenceDate)
    case .remove: held[number] = nil
    }
}

/// Compares the queue and the order with slow models.
@Suite struct CacheReferenceTests {
    /// A queue, the cache behind it, and what the cache would hold if all changes were made at once.
    private struct Trial {
        var queue = WriteBehind(maximumCount: 1_000)
        var cache: Held = [:]
        var wanted: Held = [:]
        var running: WriteBehind.Work?

        mutating func change(_ number: Int, _ step: Int, _ choice: Int) {
            let date = Date(timeIntervalSinceReferenceDate: Double(step))
            let change: WriteBehind.Change
            switch choice {
            case 0..<3: change = .store(StoredEntity(body: Data(), status: step, date: date))
            case 3: change = .revalidate(EntityConfirmation(date: date))
            default: change = .remove
            }
            queue.add(change, for: key(number))
            apply(change, number, to: &wanted)
        }

        mutating func removeAll(upTo number: Int) {
            let keys = Set((0...number).map { key($0) })
            queue.removeAll(in: EntityScope(matching: { keys.contains($0) }))
            wanted = wanted.filter { $0.key > number }
        }

        /// Ends what runs. Only removals fail here, because an entity that cannot be stored is lost.
        mutating func end(_ numbers: inout SeededNumbers) {
            guard let work = running else { return }
            running = nil
            var isDone = true
            switch work {
            case .change(let key, let change):
                if case .remove = change { isDone = Bool.random(using: &numbers) }
                if isDone { apply(change, Int(key.url.dropFirst(10)) ?? -1, to: &cache) }
            case .removeAll(let scope, _):
                isDone = Bool.random(using: &numbers)
                if isDone { cache = cache.filter { !scope.contains(key($0.key)) } }
            }
            queue.end(isDone: isDone)
        }

        /// What a read of a key finds.
        func seen(_ number: Int) -> (entity: Int, confirmation: Int)? {
            switch queue.knowledge(of: key(number)) {
            case .entity(let entity): return (entity.status, Int(entity.date.timeIntervalSinceReferenceDate))
            case .none: return nil
            case .cached(let confirmation):
                guard var seen = cache[number] else { return nil }
                if let confirmation { seen.confirmation = Int(confirmation.date.timeIntervalSinceReferenceDate) }
                return seen
            }
        }
    }

    @Test("Whatever the order of changes, work and failures: reads see all changes, and the cache ends with their sum")
    func queue() {
        for seed in 1...2_000 as ClosedRange<UInt64> {
            var numbers = SeededNumbers(state: seed)
            var trial = Trial()
            for step in 1...200 {
                let number = Int.random(in: 0..<6, using: &numbers)
                let choice = Int.random(in: 0..<10, using: &numbers)
                switch choice {
                case 0..<5: trial.change(number, step, choice)
                case 5: trial.removeAll(upTo: number)
                case 6..<8: if trial.running == nil { trial.running = trial.queue.next() }
                default: trial.end(&numbers)
                }
                for number in 0..<6 {
                    let (seen, expected) = (trial.seen(number), trial.wanted[number])
                    guard seen?.entity == expected?.entity, seen?.confirmation == expected?.confirmation else {
                        Issue.record("seed \(seed), step \(step): \(seen as Any) instead of \(expected as Any)")
                        return
                    }
                }
            }
        }
    }

    @Test("The order of use evicts the same entries as an array of them")
    func order() {
        for seed in 1...2_000 as ClosedRange<UInt64> {
            var numbers = SeededNumbers(state: seed)
            let (maximumCount, maximumBytes) = (Int.random(in: 0...6, using: &numbers), 20)
            var order = LeastRecentlyUsed<Int, Int>(maximumCount: maximumCount, maximumBytes: maximumBytes)
            var model: [(key: Int, value: Int, bytes: Int)] = []
            for step in 1...200 {
                let key = Int.random(in: 0..<9, using: &numbers)
                switch Int.random(in: 0..<8, using: &numbers) {
                case 0..<4:
                    let bytes = Int.random(in: 0...22, using: &numbers)
                    var expected: [Int] = []
                    model.removeAll { $0.key == key }
                    if bytes > maximumBytes || maximumCount == 0 {
                        expected = [key]
                    } else {
                        model.append((key, step, bytes))
                        while model.count > maximumCount || model.map(\.bytes).reduce(0, +) > maximumBytes {
                            expected.append(model.removeFirst().key)
                        }
                    }
                    let evicted = order.insert(step, for: key, bytes: bytes)
                    #expect(evicted == expected, "seed \(seed)")
                case 4..<6:
                    let index = model.firstIndex { $0.key == key }
                    let used = order.use(key)
                    #expect(used == index.map { model[$0].value }, "seed \(seed)")
                    if let index { model.append(model.remove(at: index)) }
                case 6:
                    let removed = order.remove(key)
                    #expect(removed == model.first { $0.key == key }?.value, "seed \(seed)")
                    model.removeAll { $0.key == key }
                default:
                    let removed = Set(order.removeAll { $0 > key })
                    #expect(removed == Set(model.map(\.key).filter { $0 > key }), "seed \(seed)")
                    model.removeAll { $0.key > key }
                }
                guard order.keys == model.map(\.key), order.bytes == model.map(\.bytes).reduce(0, +) else {
                    Issue.record("seed \(seed), step \(step): \(order.keys) instead of \(model)")
                    return
                }
            }
        }
    }
}
