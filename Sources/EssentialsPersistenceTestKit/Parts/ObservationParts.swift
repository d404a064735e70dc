import Dispatch
import EssentialsPersistence
import EssentialsTools

extension PersistenceServiceConformance {
    static let observationParts = [
        Self("An observation begins with what there is, and follows every change that the scope sees", observing),
        Self("An observer hears of the pending rows of its own scopes, and of all saves", hearing),
        Self("An observer is not told of changes that were made before it began", beginning),
        Self("A state that equals the one before is dropped, and a slow consumer gets the newest", newestStates),
        Self("Rows are observed by their ids, and with their origins", observingRows),
        Self("The ids of changed rows are observed", changedIDs),
        Self("An observation ends with its scope, and throws once if that was closed before", endings),
        Self("A handler is called on its queue as long as the observation lives", handlers),
        Self("An observer may change rows", changingObservers),
        Self("A hundred observers hear of each save", manyObservers),
    ]

    private static func observing(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let scope = try store.child("scope")
        let (inner, sibling) = (try scope.child("inner"), try store.child("sibling"))
        var states = inner.observe(Studio.all.sorted { [$0.name.ascending] }).makeAsyncIterator()
        func expect(_ names: [String], _ text: String) async throws {
            run.expect(try await states.next()?.map(\.name), names, text)
        }
        try await expect([], "The first state")
        try await inner.create(Shop.ufa, save: .pending)
        try await expect(["Ufa"], "The state after a change of the scope itself")
        try await scope.create(Shop.nero, save: .pending)
        try await expect(["Nero", "Ufa"], "The state after a change of the scope above")
        try await sibling.create(Studio(id: 3, name: "Decla"), save: .store)
        try await expect(["Decla", "Nero", "Ufa"], "The state after a save of others")
        try await store.importRows(of: Studio.self, from: [Studio(id: 4, name: "Apex")])
        try await expect(["Apex", "Decla", "Nero", "Ufa"], "The state after an import")
        try await inner.rollback()
        try await expect(["Apex", "Decla", "Nero"], "The state after a rollback")
        try await scope.discard(Studio.self, ids: [2])
        try await expect(["Apex", "Decla"], "The state after a discard above")
        var counts = inner.observe(Studio.all) { try $0.count($1) }.makeAsyncIterator()
        run.expect(try await counts.next(), 2, "The first state of a call")
        try await sibling.delete(Studio.all, save: .store)
        run.expect(try await counts.next(), 0, "The state of a call after a save of others")
        try await run.expect(.invalidQuery, "An observation of a call that changes rows") {
            for try await _ in store.observe(.delete(Studio.all, save: .store)) {}
        }
    }

    private static func hearing(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let scope = try store.child("scope")
        let sibling = try store.child("sibling")
        let (stream, continuation) = AsyncStream<(isSibling: Bool, change: PersistenceChange)>.makeStream()
        let observations = try [(false, scope), (true, sibling)].map { isSibling, service in
            try service.observeChanges { continuation.yield((isSibling, $0)) }
        }
        try await scope.create(Shop.ufa, save: .pending)
        try await store.create(Shop.nero, save: .store)
        try await scope.save(.store)
        var own: [PersistenceChange] = []
        var others: [PersistenceChange] = []
        for await (isSibling, change) in stream {
            if isSibling { others.append(change) } else { own.append(change) }
            if own.count + others.count == 5 { break }
        }
        func touch(_ changes: [PersistenceChange], _ ids: [Int64]) -> Bool {
            changes.count == ids.count
                && zip(changes, ids).allSatisfy { $0.touches("studio", ids: [.integer($1)]) && !$0.touches("film") }
        }
        run.expect(touch(own, [1, 2, 1]), "A scope must hear of its own row, of a save and of its own save: \(own)")
        run.expect(touch(others, [2, 1]), "A sibling must hear of saves alone: \(others)")
        for observation in observations { observation.cancel() }
    }

    private static func beginning(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let scope = try store.child("scope")
        try await store.create(Shop.ufa, save: .store)
        for round in 0..<20 {
            try await store.create(Studio(id: Int64(10 + round), name: "Before \(round)"), save: .store)
            try await scope.create(Studio(id: Int64(100 + round), name: "Pending \(round)"), save: .pending)
            let (stream, continuation) = AsyncStream<PersistenceChange>.makeStream()
            let observation = try scope.observeChanges { continuation.yield($0) }
            try await store.update(Studio.self, id: 1, save: .store) { $0.name = "After \(round)" }
            let first = await stream.first { _ in true }
            observation.cancel()
            let isOld = first?.touches("studio", ids: [.integer(Int64(10 + round)), .integer(Int64(100 + round))])
            run.expect(
                isOld == false && first?.touches("studio", ids: [.integer(1)]) == true,
                "An observer must hear first of a change after its beginning: \(first, default: "nothing").")
        }
    }

    private static func newestStates(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create([Shop.ufa, Shop.nero], save: .store)
        var states = store.observe(Studio.where { $0.id == 1 || $0.name == "Ufa" }).makeAsyncIterator()
        run.expect(try await states.next()?.count, 1, "The first state")
        try await store.update(Studio.self, id: 2, save: .store) { $0.name = "Emelka" }
        for number in 1...5 { try await store.update(Studio.self, id: 1, save: .store) { $0.name = "\(number)" } }
        run.expect(try await states.next()?.map(\.name), ["5"], "The state that a slow consumer gets")
        try await store.update(Studio.self, id: 2, save: .store) { $0.name = "Nero" }
        try await store.update(Studio.self, id: 1, save: .store) { $0.name = "6" }
        run.expect(try await states.next()?.map(\.name), ["6"], "The state after one that was the same")
    }

    private static func observingRows(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create([Shop.ufa, Shop.nero], save: .store)
        let scope = try store.child("scope")
        var rows = scope.observe(Studio.self, ids: [2, 9, 1]).makeAsyncIterator()
        run.expect(try await rows.next(), [Shop.nero, Shop.ufa], "The rows with these ids, in the order of the ids")
        try await scope.create(Studio(id: 9, name: "Decla"), save: .pending)
        run.expect(try await rows.next()?.map(\.id), [2, 9, 1], "The rows after one of them came")
        var origins = scope.observeWithOrigins(Studio.where { $0.id == 9 }).makeAsyncIterator()
        run.expect(try await origins.next()?.map(\.origin.isPending), [true], "Whether the row is pending")
        try await scope.save(.store)
        run.expect(try await origins.next()?.map(\.origin.isPending), [false], "Whether it is after a save")
    }

    private static func changedIDs(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let scope = try store.child("scope")
        var changes = scope.changes(in: Studio.self).makeAsyncIterator()
        try await scope.create([Shop.ufa, Shop.nero], save: .pending)
        run.expect(try await changes.next(), .ids([1, 2]), "The ids of new rows")
        try await store.create(Film(title: "M", year: 1931), save: .store)
        try await scope.delete(Studio.self, ids: [2], save: .pending)
        run.expect(try await changes.next(), .ids([2]), "The id of a row that went, and none of another model")
        try await scope.save(.store)
        run.expect(try await changes.next(), .ids([1]), "The id of a row that was saved")
    }

    private static func endings(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let scope = try store.child("scope")
        let inner = try scope.child("inner")
        let (started, continuation) = AsyncStream<Void>.makeStream()
        let tasks = [scope, inner].map { service in
            Task {
                var count = 0
                for try await _ in service.observe(Studio.all) {
                    count += 1
                    continuation.yield()
                }
                return count
            }
        }
        var count = 0
        for await _ in started {
            count += 1
            if count == 2 { break }
        }
        await scope.close()
        for task in tasks { run.expect(try await task.value, 1, "The number of states before the end") }
        var states = inner.observe(Studio.all).makeAsyncIterator()
        try await run.expect(.closed, "An observation of a closed scope") { _ = try await states.next() }
        run.expect(try await states.next(), nil, "What follows the failure")
        let cancelled = Task {
            for try await _ in store.observe(Studio.all) { continuation.yield() }
            return true
        }
        for await _ in started { break }
        cancelled.cancel()
        run.expect(try await cancelled.value, "An observation must end with its task.")
    }

    private static func handlers(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let queue = DispatchQueue(label: "given")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let (stream, continuation) = AsyncStream<(count: Int, isOnQueue: Bool)>.makeStream()
        let observation = store.observe(Studio.all, queue: queue) { result in
            continuation.yield(((try? result.get().count) ?? -1, DispatchQueue.getSpecific(key: key) == true))
        }
        var calls = stream.makeAsyncIterator()
        run.expect(await calls.next()?.count, 0, "What the handler gets first")
        try await store.create(Shop.ufa, save: .store)
        let call = await calls.next()
        run.expect(call?.count, 1, "What the handler gets after a save")
        run.expect(call?.isOnQueue == true, "The handler must run on the given queue.")
        queue.sync { observation.cancel() }
        var states = store.observe(Studio.all).makeAsyncIterator()
        _ = try await states.next()
        try await store.create(Shop.nero, save: .store)
        _ = try await states.next()
        queue.sync { continuation.finish() }
        run.expect(await calls.next()?.count, nil, "What the handler gets after its end")
    }

    private static func changingObservers(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        // From within the first notification, blocking.
        let names = Mutex<[String]>([])
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let observation = store.observe(Studio.all) { result in
            let count = (try? result.get().count) ?? 9
            if count < 3 {
                do {
                    try store.wait(save: .store) { try $0.create(Studio(id: Int64(count), name: "\(count)")) }
                } catch {
                    names.withLock { $0.append("\(error)") }
                    continuation.finish()
                }
            } else {
                continuation.finish()
            }
        }
        for await _ in stream {}
        observation.cancel()
        run.expect(names.withLock { $0 }, [], "The failures of blocking changes inside an observer")
        run.expect(try await store.count(Studio.all), 3, "The number of rows that the observer has created")
    }

    private static func manyObservers(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let scope = try store.child("scope")
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        let observations = (0..<100).map { number in
            (number % 2 == 0 ? store : scope).observe(Studio.all) { result in
                continuation.yield((try? result.get().count) ?? -1)
            }
        }
        var finished = 0
        var begun = 0
        for await count in stream {
            if count == 0 {
                begun += 1
                if begun == 100 { try await store.create(Shop.ufa, save: .store) }
            } else {
                run.expect(count, 1, "The number of rows that an observer finds")
                finished += 1
                if finished == 100 { break }
            }
        }
        for observation in observations { observation.cancel() }
        run.expect(begun, 100, "The number of first states")
    }
}
