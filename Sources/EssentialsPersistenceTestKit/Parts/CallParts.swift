import Dispatch
import EssentialsPersistence
import EssentialsTools

extension PersistenceServiceConformance {
    static let callParts = [
        Self("A call has one meaning in all three forms", forms),
        Self("A handler is called once, on its queue", handlerCalls),
        Self("A cancelled call ends once, and changes everything or nothing", cancellation),
        Self("A blocking call inside a closure of its store is refused", reentrancy),
        Self("Failures say what they are about", failures),
    ]

    private static func started<Value>(
        _ call: PersistenceCall<Value>, on service: any PersistenceService, _ then: (PersistenceJob) -> Void = { _ in }
    ) async -> Result<Value, PersistenceFailure> {
        await withCheckedContinuation { continuation in
            then(service.start(call) { continuation.resume(returning: $0) })
        }
    }

    private static func forms(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let scope = try store.child("scope")
        try await scope.create(Shop.ufa, save: .pending)
        try await started(.perform(save: .pending) { try $0.create(Shop.nero) }, on: scope).get()
        try await run.blocking { try scope.wait(save: .pending) { try $0.create(Studio(id: 3, name: "Decla")) } }
        let names = ["Ufa", "Nero", "Decla"]
        let query = Studio.all
        run.expect(try await scope.fetch(query).map(\.name), names, "What an asynchronous call finds")
        run.expect(
            try await started(.read { try $0.fetch(query) }, on: scope).get().map(\.name), names,
            "What a call with a handler finds")
        run.expect(
            try await run.blocking { try scope.wait { try $0.fetch(query) } }.map(\.name), names,
            "What a blocking call finds")
        run.expect(
            try await run.blocking { try scope.wait(for: .find(Studio.self, id: 3)) }?.name, "Decla",
            "What a blocking call finds by an id")
        run.expect(
            try await run.blocking { try scope.wait(for: .save(.store)) }.inserted, 3, "What a blocking save saves")
        try await run.expect(.constraint, "A blocking call that fails") {
            try await run.blocking { try scope.wait(save: .store) { try $0.create(Shop.ufa) } }
        }
        try await run.expect(.constraint, "A call with a handler that fails") {
            try await started(.perform(save: .store) { try $0.create(Shop.ufa) }, on: scope).get()
        }
    }

    private static func handlerCalls(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let queue = DispatchQueue(label: "given")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let isOnQueue = await withCheckedContinuation { continuation in
            store.start(completionQueue: queue) {
                try $0.count(Studio.all)
            } completion: { _ in
                continuation.resume(returning: DispatchQueue.getSpecific(key: key) == true)
            }
        }
        run.expect(isOnQueue, "The handler must run on the given queue.")
        let count = Mutex(0)
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        for number in 0..<50 {
            let job = store.start(save: .store) {
                try $0.create(Studio(id: Int64(number), name: "\(number)"))
            } completion: { _ in
                count.withLock { $0 += 1 }
                continuation.yield()
            }
            if number % 2 == 0 { job.cancel() }
        }
        var calls = stream.makeAsyncIterator()
        for _ in 0..<50 { await calls.next() }
        run.expect(count.withLock { $0 }, 50, "The number of calls of the handlers")
        run.expect(try await store.count(Studio.all) >= 25, "A call that was not cancelled must succeed.")
    }

    private static func cancellation(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create((1...8).map { Film(title: "\($0)", year: 1900) }, save: .store)
        let scope = try store.child("scope")
        let early = Task { () -> PersistenceFailure.Reason? in
            withUnsafeCurrentTask { $0?.cancel() }
            do throws(PersistenceFailure) {
                try await scope.update(Film.all, save: .pending) { $0.year = 1 }
                return nil
            } catch {
                return error.reason
            }
        }
        run.expect(await early.value, .cancelled, "The reason of a call of a cancelled task")
        run.expect(try await scope.validate(), SaveReport(), "What it has changed")
        for number in 0..<200 {
            let level = SaveLevel.allCases[number % 3]
            let (yields, isChange) = (number % 23, number % 5 > 0)
            let task = Task { () -> PersistenceFailure.Reason? in
                do throws(PersistenceFailure) {
                    if isChange {
                        try await scope.update(Film.all, save: level) { $0.year += 1 }
                    } else {
                        _ = try await scope.fetch(Film.all)
                    }
                    return nil
                } catch {
                    return error.reason
                }
            }
            for _ in 0..<yields { await Task.yield() }
            task.cancel()
            let reason = await task.value
            run.expect(reason == nil || reason == .cancelled, "A cancelled call has failed as \(reason?.name ?? "").")
        }
        try await scope.save(.store)
        run.expect(
            try await store.values(Film.all.values { $0.year }.distinct()).count, 1,
            "The number of different years, because each call changes all rows or none,")
    }

    /// The reasons of blocking calls on services, made here.
    private static func reasons(_ services: [any PersistenceService]) -> Set<String> {
        func reason(_ body: () throws -> Void) -> String {
            do {
                try body()
                return "none"
            } catch {
                return (error as? PersistenceFailure)?.reason.name ?? "\(error)"
            }
        }
        return Set(
            services.flatMap { service in
                [
                    reason { _ = try service.wait { try $0.count(Film.all) } },
                    reason { _ = try service.wait(for: .find(ModelID<Film>())) },
                    reason { try service.wait(save: .pending) { try $0.create(Film(title: "x", year: 1900)) } },
                    reason { _ = try service.wait(for: .save(.store)) },
                    reason { _ = try service.wait(for: .validate()) },
                    reason { try service.wait(for: .rollback()) },
                    reason { try service.wait(for: .discard(Film.self, ids: [])) },
                    reason { _ = try service.wait(for: .importRows([Shop.ufa])) },
                ]
            })
    }

    private static func reentrancy(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        let film = Film(title: "M", year: 1931)
        try await store.create(film, save: .store)
        let scope = try store.child("scope")
        let services = [store, scope, try scope.child("inner")]
        let found = Mutex<Set<String>>([])
        @Sendable func check() {
            let reasons = reasons(services)
            found.withLock { $0 = reasons }
        }
        func expect(_ text: String) { run.expect(found.withLock { $0 }, ["reentrant"], "The reasons inside \(text)") }
        for service in services {
            try await service.perform(save: .pending) { _ in check() }
            expect("a unit of work")
            try await service.read { _ in check() }
            expect("a unit that reads")
            _ = try await service.fetch(Film.all) { _ in check() }
            expect("a transformation")
            try await service.update(film.id, save: .pending) { _ in check() }
            expect("an update")
            try await service.create(from: [1], save: .pending) { _ in
                check()
                return Film(title: "x", year: 1900)
            }
            expect("a creation from sources")
            try await service.rollback()
        }
        let resolution = ConflictResolution { _ in
            check()
            return .mine
        }
        try await services[2].update(film.id, save: .pending) { $0.year = 1932 }
        try await scope.update(film.id, save: .pending) { $0.year = 1933 }
        try await services[2].save(.parent, resolving: resolution)
        expect("a decision between scopes")
        try await store.update(film.id, save: .store) { $0.year = 1934 }
        try await scope.save(.store, resolving: resolution)
        expect("a decision over the store")
        run.expect(try await store.find(Film.self, id: film.id)?.year, 1932, "The year after all")
    }

    private static func failures(_ run: ConformanceRun) async throws {
        let store = try await run.store()
        try await store.create(Shop.ufa, save: .store)
        let failure = try await run.expect(.constraint, "A row with an id that there is") {
            try await store.create(Studio(id: 1, name: "secret"), save: .store)
        }
        run.expect(failure.model, "studio", "The model in a failure")
        run.expect(failure.legacyCode, nil, "The legacy code of a failure that had none")
        let unique = try await run.expect(.constraint, "A name that is taken twice") {
            try await store.create([Studio(id: 2, name: "secret"), Studio(id: 3, name: "secret")], save: .store)
        }
        for text in [failure.description, failure.message, unique.description, unique.message] {
            run.expect(!text.contains("secret"), "A failure must have no values of rows: \(text)")
        }
        let missing = try await run.expect(.notFound, "A row that there is not") {
            try await store.update(Studio.self, id: 9, save: .pending) { $0.name = "" }
        }
        run.expect(missing.ids, [9], "The ids in a failure")
        run.expect(missing.remedy?.isEmpty == false, "A failure must have a remedy.")
        let work = try await run.expect(.work, "A closure that throws") {
            try await store.perform(save: .pending) { _ in throw CancellationError() }
        }
        run.expect(work.legacyCode, 2000, "The legacy code of an error of the caller's own code")
    }
}
