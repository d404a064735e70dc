import EssentialsTools
import Testing

@testable import EssentialsLocator

/// The behaviour of locators in edge cases.
@Suite("Locator semantics")
struct SemanticsTests {
    let root = ServiceLocator.silent("root")
    let greeterType = String(reflecting: (any Greeter).self)

    // MARK: Building

    @Test("A lazy service of an optional type may be nil: it is built once and stays registered")
    func nilIsAService() throws {
        let builds = Counter()
        try root.registerLazy(Double?.self) { _ in
            builds.increment()
            return nil
        }
        for _ in 0..<3 { #expect(try root.resolve(Double?.self) == nil) }
        #expect(try root.resolveOptional(Double?.self) == .some(nil))
        #expect(builds.value == 1)
    }

    @Test("A transient factory receives the owner, or the locator that resolves if registered with that origin")
    func transientOrigin() throws {
        let child = ServiceLocator(name: "child", parent: root)
        for (locator, greeting) in [(root, "root"), (child, "child")] {
            try locator.register(PoliteGreeter(greeting), as: (any Greeter).self)
        }
        try root.registerTransient(String.self) { try $0.name + " " + $0.resolve((any Greeter).self).greeting }
        try root.registerTransient(String.self, named: "asked", from: .requester) {
            try $0.name + " " + $0.resolve((any Greeter).self).greeting
        }
        #expect(try child.resolve(String.self) == "root root")
        #expect(try child.resolve(String.self, named: "asked") == "child child")
        #expect(try root.resolve(String.self, named: "asked") == "root root")
    }

    @Test("A factory with arguments receives the owner, or the locator that resolves if registered with that origin")
    func argumentOrigin() throws {
        let child = ServiceLocator(name: "child", parent: root)
        try root.registerTransient(String.self) { (locator, text: String) in text + locator.name }
        try root.registerTransient(String.self, named: "asked", from: .requester) { (locator, text: String) in
            text + locator.name
        }
        #expect(try child.resolve(String.self, arguments: "in ") == "in root")
        #expect(try child.resolve(String.self, named: "asked", arguments: "in ") == "in child")
    }

    @Test("An asynchronous factory receives the owner")
    func asyncOwner() async throws {
        try root.registerAsync(String.self) { $0.name }
        #expect(try await ServiceLocator(name: "child", parent: root).resolveAsync(String.self) == "root")
    }

    @Test("A thread that waits for an attempt gets its instance even if the registration is replaced or removed")
    func waitersOfAReplaced() throws {
        for round in 0..<20 {
            let locator = ServiceLocator(name: "app")
            let inside = Counter()
            let release = Counter()
            let seen = Recorder<String>()
            try locator.registerLazy((any Greeter).self) { _ in
                inside.increment()
                spin { release.value > 0 }
                return PoliteGreeter("old")
            }
            let workers = Workers()
            for _ in 0..<2 { workers.start { seen.append(locator.require((any Greeter).self).greeting) } }
            // One thread builds now and the other has joined it.
            spin { inside.value > 0 && locator.isWaitedFor((any Greeter).self) }
            if round % 2 == 0 {
                try locator.replace(PoliteGreeter("new"), as: (any Greeter).self)
            } else {
                locator.unregister((any Greeter).self)
            }
            release.increment()
            workers.join()
            #expect(seen.all == ["old", "old"])
            #expect(inside.value == 1)
            #expect(try locator.resolveOptional((any Greeter).self)?.greeting == (round % 2 == 0 ? "new" : nil))
        }
    }

    @Test("A factory that fails after its registration was removed does not run again, and is released")
    func failsAfterRemoval() throws {
        let deaths = Recorder<String>()
        let builds = Counter()
        do {
            let bait = Mortal("bait") { deaths.append($0) }
            try root.registerLazy((any Greeter).self) { locator in
                builds.increment()
                locator.unregister((any Greeter).self)
                throw FactoryFailure(bait.greeting)
            }
        }
        let error = failure { () throws(ServiceLocatorError) in try root.resolve((any Greeter).self) }
        #expect(error?.reason == .constructionFailed)
        #expect(deaths.all == ["bait"])
        #expect(try root.resolveOptional((any Greeter).self) == nil)
        #expect(builds.value == 1)
    }

    @Test("An asynchronous service that is replaced while it is built goes only to tasks that already wait")
    func replacedAsync() async throws {
        let locator = root
        try locator.registerAsync((any Greeter).self) { locator in
            try locator.replace(PoliteGreeter("new"), as: (any Greeter).self)
            return PoliteGreeter("old")
        }
        #expect(try await locator.resolveAsync((any Greeter).self).greeting == "old")
        #expect(try await locator.resolveAsync((any Greeter).self).greeting == "new")
        #expect(try locator.resolve((any Greeter).self).greeting == "new")
    }

    @Test("A locator lives until a factory that runs on another thread ends")
    func releasedWhileBuilding() throws {
        let inside = Counter()
        let release = Counter()
        let result = Recorder<Int>()
        var scope: ServiceLocator? = ServiceLocator(name: "scope")
        weak let observed = scope
        try scope?.register(5, as: Int.self, named: "five")
        try scope?.registerLazy(Int.self) { locator in
            inside.increment()
            spin { release.value > 0 }
            return try locator.resolve(Int.self, named: "five")
        }
        let workers = Workers()
        startResolving(in: &scope, on: workers) { result.append($0) }
        spin { inside.value > 0 }
        #expect(scope == nil)
        #expect(observed != nil)
        release.increment()
        workers.join()
        #expect(result.all == [5])
        #expect(observed == nil)
    }

    /// Leaves the thread with the only reference to the locator.
    private func startResolving(
        in scope: inout ServiceLocator?, on workers: Workers, then done: @escaping @Sendable (Int) -> Void
    ) {
        guard let locator = scope else { return }
        scope = nil
        workers.start { done(locator.require(Int.self)) }
    }

    @Test("References to a released locator throw locatorGone")
    func locatorGone() throws {
        var scope: ServiceLocator? = ServiceLocator(name: "scope")
        try scope?.registerLazy(Int.self) { _ in 1 }
        let locator = try #require(scope?.reference)
        let service = try #require(scope?.reference(to: Int.self))
        scope = nil
        #expect(failure { () throws(ServiceLocatorError) in try locator.live() }?.reason == .locatorGone)
        #expect(failure { () throws(ServiceLocatorError) in try service.resolve() }?.reason == .locatorGone)
        #expect(try service.resolveOptional() == nil)
    }

    // MARK: Threads and tasks

    @Test("An asynchronous service is built by one task, and resolving it synchronously is always an error")
    func asynchronous() async throws {
        let locator = root
        let builds = Counter()
        try locator.registerAsync((any Greeter).self, fileID: "App/Main.swift", line: 4) { _ in
            builds.increment()
            await Task.yield()
            return PoliteGreeter()
        }
        func expectRefusal() {
            let errors = [
                failure { () throws(ServiceLocatorError) in try locator.resolve((any Greeter).self) },
                failure { () throws(ServiceLocatorError) in try locator.resolveOptional((any Greeter).self) },
            ]
            #expect(errors.map { $0?.reason } == [.asynchronous, .asynchronous])
            #expect(
                errors.first??.message
                    == "\(greeterType) in \"root\", registered at App/Main.swift:4, has an asynchronous factory.")
        }
        expectRefusal()
        #expect(builds.value == 0)
        let built = try await withThrowingTaskGroup(of: (any Greeter).self) { group in
            for _ in 0..<10 { group.addTask { try await locator.resolveAsync((any Greeter).self) } }
            return try await group.reduce(into: Set<ObjectIdentifier>()) { $0.insert(ObjectIdentifier($1)) }
        }
        #expect(built.count == 1)
        #expect(builds.value == 1)
        expectRefusal()
    }

    @Test("An asynchronous factory that fails is kept and runs again")
    func asyncRetry() async throws {
        let attempts = Counter()
        try root.registerAsync(Int.self) { _ in
            if attempts.increment() == 1 { throw FactoryFailure() }
            return attempts.value
        }
        await #expect(throws: ServiceLocatorError.self) { try await root.resolveAsync(Int.self) }
        #expect(try await root.resolveAsync(Int.self) == 2)
        #expect(try await root.resolveAsync(Int.self) == 2)
    }

    @Test("Slow factories of different services run at the same time")
    func factoriesOverlap() throws {
        let inside = Counter()
        for index in 0..<3 {
            try root.registerLazy(Int.self, named: "\(index)") { _ in
                inside.increment()
                // Ends only if the factories run at the same time.
                spin { inside.value >= 3 }
                return index
            }
        }
        let sum = Recorder<Int>()
        Workers.run(3) { [root] in sum.append(root.require(Int.self, named: "\($0)")) }
        #expect(sum.all.sorted() == [0, 1, 2])
    }
}

extension ServiceLocator {
    /// Whether a thread builds the service and another thread waits for it.
    func isWaitedFor<Service>(_ type: Service.Type, named name: String? = nil) -> Bool {
        let slot = table.slot(for: ServiceKey(type, name: name))?.takeUnretainedValue()
        return slot?.state.load(ordering: .acquiring) == .contended
    }
}
