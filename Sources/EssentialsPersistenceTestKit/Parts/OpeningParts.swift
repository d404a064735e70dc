import Dispatch
import EssentialsPersistence

extension PersistenceServiceConformance {
    static func restart(_ run: ConformanceRun) async throws {
        let first = try await run.store()
        let scope = try first.child("scope")
        try await first.create([Shop.ufa, Shop.nero], save: .store)
        try await scope.create(Studio(id: 3, name: "Decla"), save: .store)
        try await scope.update(Studio.self, id: 1, save: .pending) { $0.name = "lost" }
        try await scope.create(Studio(id: 4, name: "lost"), save: .parent)
        await first.close()
        let second = try await run.store()
        run.expect(
            try await second.fetch(Studio.all).map(\.name), ["Ufa", "Nero", "Decla"], "The rows after a restart")
        run.expect(try await second.validate(), SaveReport(), "What is pending after a restart")
        try await second.delete(Studio.self, ids: [2], save: .store)
        try await second.update(Studio.self, id: 3, save: .store) { $0.name = "Decla 2" }
        await second.close()
        let third = try await run.store()
        run.expect(try await third.fetch(Studio.all).map(\.name), ["Ufa", "Decla 2"], "The rows after another restart")
    }

    static func opening(_ run: ConformanceRun, _ store: any PersistenceService, _ open: () -> Void) async throws {
        var states = store.states.makeAsyncIterator()
        run.expect(await states.next(), .opening, "The first state")
        let scope = try store.child("scope")
        for service in [store, scope] {
            run.expect(service.state, .opening, "The state of \(service.name)")
            let failure = try await run.expect(.notReady, "A blocking call of \(service.name)") {
                _ = try await run.blocking { try service.wait { try $0.count(Studio.all) } }
            }
            run.expect(failure.legacyCode, 2001, "The legacy code of a store that is not open")
        }
        let (counts, continuation) = AsyncStream<Int?>.makeStream()
        store.start {
            try $0.count(Studio.all)
        } completion: {
            continuation.yield(try? $0.get())
        }
        let creation = await withCheckedContinuation { continuation in
            scope.start(save: .pending) {
                try $0.create(Shop.ufa)
            } completion: {
                continuation.resume(returning: $0)
            }
            // Both calls wait by now.
            open()
        }
        try creation.get()
        for await count in counts {
            run.expect(count, 0, "What a call finds that has waited")
            break
        }
        run.expect(await states.next(), .ready, "The state that follows")
        run.expect(scope.state, .ready, "The state of a scope that was made before")
        run.expect(try await scope.fetch(Studio.all), [Shop.ufa], "The rows of that scope")
        run.expect(
            try await run.blocking { try scope.wait { try $0.count(Studio.all) } }, 1, "What a blocking call finds now")
    }

    static func failedOpening(_ run: ConformanceRun, _ reason: PersistenceFailure.Reason) async throws {
        let store = try await run.store()
        let scope = try store.child("scope")
        for service in [store, scope] {
            var failures = [
                try await run.expect(reason, "A wait for \(service.name)") { try await service.ready() },
                try await run.expect(reason, "A read of \(service.name)") { _ = try await service.count(Studio.all) },
                try await run.expect(reason, "A read by id") { _ = try await service.find(Studio.self, id: 1) },
                try await run.expect(reason, "A change") { try await service.create(Shop.ufa, save: .pending) },
                try await run.expect(reason, "A save") { try await service.save(.store) },
                try await run.expect(reason, "A rollback") { try await service.rollback() },
            ]
            failures.append(
                try await run.expect(reason, "A blocking call") {
                    _ = try await run.blocking { try service.wait { try $0.count(Studio.all) } }
                })
            for failure in failures {
                run.expect(failure.legacyCode, 2001, "The legacy code of a store that could not be opened")
                run.expect(!failure.message.isEmpty, "The failure must say what has happened.")
            }
            guard case .failed(let failure) = service.state else {
                run.add("The state of \(service.name) must be failed, and is \(service.state).")
                continue
            }
            run.expect(failure.reason, reason, "The reason in the state")
            var states = service.observe(Studio.all).makeAsyncIterator()
            try await run.expect(reason, "An observation") { _ = try await states.next() }
        }
        await store.close()
        run.expect(scope.state, .closed, "The state after a close")
    }
}
