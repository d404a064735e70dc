import Testing

@testable import EssentialsLocator

@Suite("Closing a locator", .timeLimit(.minutes(5)))
struct ScopeTests {
    let locator = ServiceLocator(name: "scope")
    let log = Recorder<String>()
    let gate = AsyncGate()
    let inside = Counter()

    private func notified(_ name: String) -> Notified { Notified(name, log) }

    // MARK: Notified services

    @Test("Closing notifies services of all kinds in reverse order of construction")
    func order() async throws {
        try locator.registerLazy(Notified.self, named: "outer") { [log] locator in
            _ = try locator.resolve(Notified.self, named: "inner")
            return Notified("outer", log)
        }
        try locator.registerAsync(Notified.self, named: "async") { [log] locator in
            _ = try locator.resolve(Notified.self, named: "outer")
            return Notified("async", log)
        }
        try locator.registerLazy(Notified.self, named: "inner") { [log] _ in Notified("inner", log) }
        try locator.register(notified("strong"), as: Notified.self, named: "strong")
        try locator.registerLazy(Notified.self, named: "unbuilt") { [log] _ in Notified("unbuilt", log) }
        try locator.registerLazy(Notified.self, named: "late") { [log] _ in Notified("late", log) }
        try locator.register(NotifiedValue(log: log), as: NotifiedValue.self)
        _ = try await locator.resolveAsync(Notified.self, named: "async")
        _ = try locator.resolve(Notified.self, named: "late")
        await locator.close()
        #expect(log.all == ["late", "async", "outer", "inner", "value", "strong"])
    }

    @Test("Closing notifies an object with several registrations once, at its oldest position")
    func oncePerObject() async throws {
        let object = notified("object")
        try locator.register(object, as: (any NotifiedPart).self, (any NotifiedTool).self)
        try locator.register(notified("younger"), as: Notified.self)
        try locator.registerLazy(Notified.self, named: "again") { _ in object }
        _ = try locator.resolve(Notified.self, named: "again")
        await locator.close()
        #expect(log.all == ["younger", "object"])
    }

    @Test("Closing notifies services of the main actor") @MainActor
    func mainActor() async throws {
        try locator.registerOnMainActor(notified("built"), as: (any NotifiedPart).self)
        try locator.registerLazyOnMainActor((any NotifiedTool).self) { [log] _ in Notified("lazy", log) }
        _ = try locator.resolveOnMainActor((any NotifiedTool).self)
        await locator.close()
        #expect(log.all == ["lazy", "built"])
        #expect(thrown { try locator.resolveOnMainActor((any NotifiedPart).self) }?.reason == .closed)
    }

    @Test("Closing does not notify weak services, transient services and proxies")
    func notHeld() async throws {
        let object = notified("object")
        try locator.registerWeak(object, named: "weak")
        try locator.registerWeakProxy(object, as: Notified.self, named: "proxy") { [log] _ in Notified("proxy", log) }
        try locator.registerTransient(Notified.self) { [log] _ in Notified("transient", log) }
        let transient = try locator.resolve(Notified.self)
        await locator.close()
        #expect(log.all == [])
        withExtendedLifetime((object, transient)) {}
    }

    @Test("Closing does not notify replaced and unregistered services")
    func notThere() async throws {
        try locator.register(notified("replaced"), as: Notified.self)
        try locator.replace(notified("replacing"), as: Notified.self)
        try locator.register(notified("unregistered"), as: Notified.self, named: "b")
        locator.unregister(Notified.self, named: "b")
        await locator.close()
        #expect(log.all == ["replacing"])
    }

    @Test("Closing a child neither closes the parent nor notifies its services")
    func parentIsOpen() async throws {
        let child = ServiceLocator(name: "child", parent: locator)
        try locator.register(notified("parent's"), as: Notified.self)
        try child.register(notified("child's"), as: (any NotifiedPart).self)
        await child.close()
        #expect(log.all == ["child's"])
        #expect(try locator.resolve(Notified.self).name == "parent's")
        #expect(!locator.isClosed)
    }

    // MARK: Calling close

    @Test("Closing again does nothing, and every call returns after the first one has finished")
    func idempotent() async throws {
        try locator.register(Notified("service", log, waitingFor: gate), as: Notified.self)
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

    @Test("A closed locator throws the same error for every use")
    func closed() async throws {
        let child = ServiceLocator(name: "child", parent: locator)
        let held = notified("weak")
        try locator.register(1, as: Int.self)
        try locator.registerLazy(Int.self, named: "lazy") { _ in 2 }
        try locator.registerLazy(Int.self, named: "built") { _ in 3 }
        try locator.registerTransient(Int.self, named: "transient") { _ in 4 }
        try locator.registerTransient(Int.self, named: "arguments") { (_, number: Int) in number }
        try locator.registerWeak(held, as: (any NotifiedPart).self) { $0 }
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
            #expect(thrown { try asked.resolve((any NotifiedPart).self) }?.reason == .closed)
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
        try locator.registerLazy(Int.self) { [service = notified("lazy's")] _ in service.name.count }
        try locator.registerAsync(Int.self, named: "async") { [service = notified("async's")] _ in service.name.count }
        await locator.close()
        #expect(log.all == ["lazy's is gone", "async's is gone"])
    }

    @Test("Services of a closed locator are released with the last reference to it, and not before")
    func release() async throws {
        var scope: ServiceLocator? = ServiceLocator(name: "short")
        try scope?.register(notified("a"), as: Notified.self)
        try scope?.registerAsync(Notified.self, named: "b") { [log] _ in Notified("b", log) }
        _ = try await scope?.resolveAsync(Notified.self, named: "b")
        await scope?.close()
        #expect(log.all == ["b", "a"])
        weak let owner = scope
        scope = nil
        await yield { owner == nil && log.all.count == 4 }
        #expect(log.all == ["b", "a", "b is gone", "a is gone"])
    }

    @Test("withScope closes the scope and then returns the result of its closure")
    func scope() async throws {
        let name = try await locator.withScope("inner") { scope in
            try scope.register(Notified("service", log), as: Notified.self)
            #expect(scope.parent === locator)
            return scope.name
        }
        #expect(name == "inner")
        #expect(log.all == ["service", "service is gone"])
    }

    @Test("withScope closes the scope and then throws the typed error of its closure")
    func failingScope() async throws {
        do throws(FactoryFailure) {
            try await locator.withScope("inner") { (scope) async throws(FactoryFailure) -> Void in
                _ = try? scope.register(Notified("service", log), as: Notified.self)
                throw FactoryFailure("typed")
            }
            Issue.record("does not throw")
        } catch {
            #expect(error.description == "typed")
        }
        #expect(log.all == ["service", "service is gone"])
        // A closure that does not throw needs no `try`.
        #expect(await locator.withScope("quiet") { _ in 1 } == 1)
    }

    // MARK: Scopes that are not closed

    @Test("A watch finds exactly the scopes that were not closed, alive or released")
    func watch() async throws {
        let watch = ScopeWatch()
        let root = ServiceLocator(name: "root", parent: nil, watch: watch)
        let open = ServiceLocator(name: "open", parent: root)
        let closed = ServiceLocator(name: "closed", parent: open)
        #expect(watch.unclosed == [])
        try open.register(notified("a"), as: Notified.self, fileID: "App/Open.swift", line: 1)
        try open.register(1, as: Int.self)
        try open.registerLazy(Notified.self, named: "unbuilt") { [log] _ in Notified("unbuilt", log) }
        try closed.register(notified("b"), as: Notified.self)
        await closed.close()
        let label = String(reflecting: Notified.self)
        #expect(watch.unclosed == ["\(label) (App/Open.swift:1) in \"open\""])
        do {
            let released = ServiceLocator(name: "released", parent: closed)
            try released.registerLazy(Notified.self, named: "c", fileID: "App/Gone.swift", line: 2) { [log] _ in
                Notified("c", log)
            }
            _ = try released.resolve(Notified.self, named: "c")
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
