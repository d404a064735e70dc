import Testing

@testable import EssentialsLocator

@Suite("Closing a locator", .timeLimit(.minutes(5)))
struct ScopeTests {
    let locator = ServiceLocator(name: "scope")
    let log = Recorder<String>()
    let gate = AsyncGate()
    let inside = Counter()

    private func told(_ name: String) -> Told { Told(name, log) }

    // MARK: Who is told

    @Test("Services are told in reverse order of construction, whatever their kind")
    func order() async throws {
        try locator.registerLazy(Told.self, named: "outer") { [log] locator in
            _ = try locator.resolve(Told.self, named: "inner")
            return Told("outer", log)
        }
        try locator.registerAsync(Told.self, named: "async") { [log] locator in
            _ = try locator.resolve(Told.self, named: "outer")
            return Told("async", log)
        }
        try locator.registerLazy(Told.self, named: "inner") { [log] _ in Told("inner", log) }
        try locator.register(told("strong"), as: Told.self, named: "strong")
        try locator.registerLazy(Told.self, named: "unbuilt") { [log] _ in Told("unbuilt", log) }
        try locator.registerLazy(Told.self, named: "late") { [log] _ in Told("late", log) }
        try locator.register(ToldValue(log: log), as: ToldValue.self)
        _ = try await locator.resolveAsync(Told.self, named: "async")
        _ = try locator.resolve(Told.self, named: "late")
        await locator.close()
        #expect(log.all == ["late", "async", "outer", "inner", "value", "strong"])
    }

    @Test("One object that is registered for several types, in whatever way, is told once, where it came first")
    func oncePerObject() async throws {
        let object = told("object")
        try locator.register(object, as: (any ToldPart).self, (any ToldTool).self)
        try locator.register(told("younger"), as: Told.self)
        try locator.registerLazy(Told.self, named: "again") { _ in object }
        _ = try locator.resolve(Told.self, named: "again")
        await locator.close()
        #expect(log.all == ["younger", "object"])
    }

    @Test("Services for the main actor are told") @MainActor
    func mainActor() async throws {
        try locator.registerOnMainActor(told("built"), as: (any ToldPart).self)
        try locator.registerLazyOnMainActor((any ToldTool).self) { [log] _ in Told("lazy", log) }
        _ = try locator.resolveOnMainActor((any ToldTool).self)
        await locator.close()
        #expect(log.all == ["lazy", "built"])
        #expect(thrown { try locator.resolveOnMainActor((any ToldPart).self) }?.reason == .closed)
    }

    @Test("Weak and transient services and proxies are not told")
    func notHeld() async throws {
        let object = told("object")
        try locator.registerWeak(object, named: "weak")
        try locator.registerWeakProxy(object, as: Told.self, named: "proxy") { [log] _ in Told("proxy", log) }
        try locator.registerTransient(Told.self) { [log] _ in Told("transient", log) }
        let transient = try locator.resolve(Told.self)
        await locator.close()
        #expect(log.all == [])
        withExtendedLifetime((object, transient)) {}
    }

    @Test("Replaced and unregistered services are not told")
    func notThere() async throws {
        try locator.register(told("replaced"), as: Told.self)
        try locator.replace(told("replacing"), as: Told.self)
        try locator.register(told("unregistered"), as: Told.self, named: "b")
        locator.unregister(Told.self, named: "b")
        await locator.close()
        #expect(log.all == ["replacing"])
    }

    @Test("A parent's services are not told, and the parent stays open")
    func parentIsOpen() async throws {
        let child = ServiceLocator(name: "child", parent: locator)
        try locator.register(told("parent's"), as: Told.self)
        try child.register(told("child's"), as: (any ToldPart).self)
        await child.close()
        #expect(log.all == ["child's"])
        #expect(try locator.resolve(Told.self).name == "parent's")
        #expect(!locator.isClosed)
    }

    // MARK: Calling it

    @Test("Closing again does nothing, and every call returns after the work is done")
    func idempotent() async throws {
        try locator.register(Told("service", log, waitingFor: gate), as: Told.self)
        let returned = Counter()
        let tasks = (0..<8).map { _ in
            Task { [locator, log] in
                await locator.close()
                returned.increment()
                return log.all
            }
        }
        await yield { locator.isClosed }
        await settle()
        #expect(returned.value == 0)
        gate.open()
        for task in tasks { #expect(await task.value == ["service"]) }
        await locator.close()
        #expect(log.all == ["service"])
    }

    @Test("A closed locator refuses everything with the same error")
    func closed() async throws {
        let child = ServiceLocator(name: "child", parent: locator)
        let held = told("weak")
        try locator.register(1, as: Int.self)
        try locator.registerLazy(Int.self, named: "lazy") { _ in 2 }
        try locator.registerLazy(Int.self, named: "built") { _ in 3 }
        try locator.registerTransient(Int.self, named: "transient") { _ in 4 }
        try locator.registerTransient(Int.self, named: "arguments") { (_, number: Int) in number }
        try locator.registerWeak(held, as: (any ToldPart).self) { $0 }
        try locator.registerAsync(Int.self, named: "async") { _ in 5 }
        try locator.registerAsync(Int.self, named: "async built") { _ in 6 }
        _ = try locator.resolve(Int.self, named: "built")
        _ = try await locator.resolveAsync(Int.self, named: "async built")
        try child.register("own", as: String.self)
        await locator.close()
        #expect(locator.isClosed)
        let names = [nil, "lazy", "built", "transient", "arguments", "async", "async built", "never registered"]
        for asked in [locator, child] {
            for name in names {
                let errors = [
                    thrown { try asked.resolve(Int.self, named: name) },
                    thrown { try asked.resolveOptional(Int.self, named: name) },
                    await thrownLater { try await asked.resolveAsync(Int.self, named: name) },
                ]
                #expect(errors.map { $0?.reason } == [.closed, .closed, .closed], "\(name ?? "no name")")
                #expect(errors.allSatisfy { $0?.message == "The locator \"scope\" is closed." })
            }
            #expect(thrown { try asked.resolve(Int.self, named: "arguments", arguments: 1) }?.reason == .closed)
            #expect(thrown { try asked.resolve((any ToldPart).self) }?.reason == .closed)
        }
        #expect(try child.resolve(String.self) == "own")
        #expect(await locator.validate().map(\.reason) == [.closed])
        withExtendedLifetime(held) {}
    }

    @Test("Nothing can be registered in a closed locator")
    func registeringIsRefused() async throws {
        try locator.register(1, as: Int.self)
        await locator.close()
        let late = Assembly("late") { locator in
            try locator.register(2, as: Int.self, named: "new")
        }
        let errors = [
            thrown { try locator.register(2, as: Int.self) },
            thrown { try locator.register(2, as: Int.self, named: "new") },
            thrown { try locator.registerLazy(Int.self) { _ in 2 } },
            thrown { try locator.registerAsync(Int.self) { _ in 2 } },
            thrown { try locator.registerTransient(Int.self) { _ in 2 } },
            thrown { try locator.registerWeak(PoliteGreeter()) },
            thrown { try locator.registerIfAbsent(2, as: Int.self) },
            thrown { try locator.replace(2, as: Int.self) },
            thrown { try locator.replaceLazy(Int.self) { _ in 2 } },
            thrown { try late.install(in: locator) },
        ]
        #expect(errors.map { $0?.reason } == Array(repeating: .closed, count: errors.count))
    }

    // MARK: Lifetimes

    @Test("Factories that have not run are released when the locator is closed")
    func factories() async throws {
        try locator.registerLazy(Int.self) { [service = told("lazy's")] _ in service.name.count }
        try locator.registerAsync(Int.self, named: "async") { [service = told("async's")] _ in service.name.count }
        await locator.close()
        #expect(log.all == ["lazy's is gone", "async's is gone"])
    }

    @Test("Services are released when the last reference to the locator goes, and not before")
    func release() async throws {
        var scope: ServiceLocator? = ServiceLocator(name: "short")
        try scope?.register(told("a"), as: Told.self)
        try scope?.registerAsync(Told.self, named: "b") { [log] _ in Told("b", log) }
        _ = try await scope?.resolveAsync(Told.self, named: "b")
        await scope?.close()
        #expect(log.all == ["b", "a"])
        weak let owner = scope
        scope = nil
        await yield { owner == nil && log.all.count == 4 }
        #expect(log.all == ["b", "a", "b is gone", "a is gone"])
    }

    @Test("withScope returns what its body returns, and closes before it does")
    func scope() async throws {
        let name = try await locator.withScope("inner") { scope in
            try scope.register(Told("service", log), as: Told.self)
            #expect(scope.parent === locator)
            return scope.name
        }
        #expect(name == "inner")
        #expect(log.all == ["service", "service is gone"])
    }

    @Test("withScope throws its body's error with its type, and closes before it does")
    func failingScope() async throws {
        do throws(FactoryFailure) {
            try await locator.withScope("inner") { (scope) async throws(FactoryFailure) -> Void in
                _ = try? scope.register(Told("service", log), as: Told.self)
                throw FactoryFailure("typed")
            }
            Issue.record("does not throw")
        } catch {
            #expect(error.description == "typed")
        }
        #expect(log.all == ["service", "service is gone"])
        // A body that does not throw needs no `try`.
        #expect(await locator.withScope("quiet") { _ in 1 } == 1)
    }

    // MARK: Forgotten scopes

    @Test("A watch finds scopes that were not closed, alive or released, and no others")
    func watch() async throws {
        let watch = ScopeWatch()
        let root = ServiceLocator(name: "root", parent: nil, watch: watch)
        let open = ServiceLocator(name: "open", parent: root)
        let closed = ServiceLocator(name: "closed", parent: open)
        #expect(watch.unclosed == [])
        try open.register(told("a"), as: Told.self, fileID: "App/Open.swift", line: 1)
        try open.register(1, as: Int.self)
        try open.registerLazy(Told.self, named: "unbuilt") { [log] _ in Told("unbuilt", log) }
        try closed.register(told("b"), as: Told.self)
        await closed.close()
        let label = String(reflecting: Told.self)
        #expect(watch.unclosed == ["\(label) (App/Open.swift:1) in \"open\""])
        do {
            let released = ServiceLocator(name: "released", parent: closed)
            try released.registerLazy(Told.self, named: "c", fileID: "App/Gone.swift", line: 2) { [log] _ in
                Told("c", log)
            }
            _ = try released.resolve(Told.self, named: "c")
        }
        await yield { watch.unclosed.count == 2 }
        #expect(
            watch.unclosed == [
                "\(label) named \"c\" (App/Gone.swift:2) in \"released\"", "\(label) (App/Open.swift:1) in \"open\"",
            ])
        await open.close()
        #expect(watch.unclosed == ["\(label) named \"c\" (App/Gone.swift:2) in \"released\""])
        withExtendedLifetime((root, open, closed)) {}
    }
}
