import EssentialsLocator
import Testing

@Suite("Asynchronous registrations: lifetimes", .timeLimit(.minutes(5)))
struct AsyncLifetimeTests {
    let gate = AsyncGate()
    let inside = Counter()
    let deaths = Recorder<String>()

    @Test("Objects that an asynchronous factory captured are released once it has succeeded")
    func factoryIsReleased() async throws {
        let locator = ServiceLocator(name: "app")
        do {
            let captured = Mortal("captured") { [deaths] in deaths.append($0) }
            try locator.registerAsync(Int.self) { [inside] _ in
                if inside.increment() == 1 { throw FactoryFailure() }
                return captured.greeting.count
            }
        }
        _ = await thrownLater { try await locator.resolveAsync(Int.self) }
        #expect(deaths.all.isEmpty)
        _ = try await locator.resolveAsync(Int.self)
        // The factory's task ends after the waiting tasks were resumed.
        await yield { !deaths.all.isEmpty }
        #expect(deaths.all == ["captured"])
    }

    @Test(
        "A factory that is removed before it runs, or fails after its removal, releases what it captured"
    )
    func removedFactoryIsReleased() async throws {
        let locator = ServiceLocator(name: "app")
        try registerWaiting(capturing: Mortal("unbuilt") { [deaths] in deaths.append($0) }, in: locator)
        #expect(locator.unregister(Int.self))
        #expect(deaths.all == ["unbuilt"])
        try registerWaiting(capturing: Mortal("failing") { [deaths] in deaths.append($0) }, in: locator)
        let task = Task { await thrownLater { try await locator.resolveAsync(Int.self) } }
        await yield { inside.value == 1 }
        #expect(locator.unregister(Int.self))
        gate.open()
        #expect(await task.value?.reason == .constructionFailed)
        await yield { deaths.all.count == 2 }
        #expect(deaths.all == ["unbuilt", "failing"])
    }

    private func registerWaiting(capturing captured: Mortal, in locator: ServiceLocator) throws {
        try locator.registerAsync(Int.self) { [inside, gate] _ in
            inside.increment()
            await gate.pass()
            throw FactoryFailure(captured.greeting)
        }
    }

    @Test(
        "An asynchronous registration that is replaced while it is built gives its service only to waiting tasks"
    )
    func replacedWhileRunning() async throws {
        let locator = ServiceLocator(name: "app")
        try locator.registerAsync((any Greeter).self) { [inside, gate] _ in
            inside.increment()
            await gate.pass()
            return PoliteGreeter("old")
        }
        let task = Task { try await locator.resolveAsync((any Greeter).self).greeting }
        await yield { inside.value == 1 }
        #expect(try locator.replace(PoliteGreeter("new"), as: (any Greeter).self) == nil)
        #expect(try await locator.resolveAsync((any Greeter).self).greeting == "new")
        locator.unregister((any Greeter).self)
        #expect(await thrownLater { try await locator.resolveAsync((any Greeter).self) }?.reason == .missing)
        gate.open()
        #expect(try await task.value == "old")
        #expect(try locator.resolveOptional((any Greeter).self) == nil)
    }

    @Test("A running asynchronous factory retains its locator until it ends")
    func ownerIsKept() async throws {
        var locator: ServiceLocator? = ServiceLocator(name: "app")
        weak let owner = locator
        try locator?.register(PoliteGreeter("kept"), as: (any Greeter).self)
        try locator?.registerAsync(String.self) { [inside, gate] locator in
            inside.increment()
            await gate.pass()
            return try locator.resolve((any Greeter).self).greeting
        }
        let task = Task { [locator] in try await locator?.resolveAsync(String.self) }
        locator = nil
        await yield { inside.value == 1 }
        #expect(owner != nil)
        gate.open()
        #expect(try await task.value == "kept")
        await yield { owner == nil }
        #expect(owner == nil)
    }

    @Test("A running asynchronous factory retains its locator even if no task waits for it any more")
    func ownerIsKeptForNobody() async throws {
        let found = Recorder<String>()
        var locator: ServiceLocator? = ServiceLocator(name: "app")
        weak let owner = locator
        try locator?.register(PoliteGreeter("kept"), as: (any Greeter).self)
        try locator?.registerAsync(String.self) { [inside, gate, reference = locator?.reference] _ in
            inside.increment()
            await gate.pass()
            found.append((try? reference?.live().resolve((any Greeter).self).greeting) ?? "gone")
            return ""
        }
        do {
            let task = Task { [locator] in await thrownLater { try await locator?.resolveAsync(String.self) }?.reason }
            await yield { inside.value == 1 }
            task.cancel()
            #expect(await task.value == .cancelled)
        }
        locator = nil
        gate.open()
        await yield { !found.all.isEmpty }
        #expect(found.all == ["kept"])
        await yield { owner == nil }
        #expect(owner == nil)
    }

    @Test("A child finds its parent's asynchronous service, whose factory receives the parent")
    func parents() async throws {
        let root = ServiceLocator(name: "root")
        let child = ServiceLocator(name: "child", parent: root)
        try root.register("root's", as: String.self)
        try child.register("child's", as: String.self)
        try root.registerAsync((any Greeter).self) { locator in
            await Task.yield()
            return PoliteGreeter("\(try locator.resolve(String.self)) in \(locator.name)")
        }
        let greeter = try await child.resolveAsync((any Greeter).self)
        #expect(greeter.greeting == "root's in root")
        #expect(try await root.resolveAsync((any Greeter).self) === greeter)
    }

    @Test("An asynchronous factory has the current locator of the task that resolved first")
    func current() async throws {
        let locator = ServiceLocator(name: "app")
        try locator.registerAsync(String.self) { _ in
            await Task.yield()
            return ServiceLocator.current.name
        }
        let doubles = ServiceLocator(name: "doubles")
        let name = try await ServiceLocator.$current.withValue(doubles) { try await locator.resolveAsync(String.self) }
        #expect(name == "doubles")
    }

    @Test("A task that an asynchronous factory starts does not keep the service alive")
    func workDoesNotKeepTheService() async throws {
        var locator: ServiceLocator? = ServiceLocator(name: "app")
        try locator?.registerAsync((any Greeter).self) { [inside, gate, deaths] _ in
            // Like a service with a background task for its whole life.
            Task { [inside, gate] in
                await gate.pass()
                inside.increment()
            }
            return Mortal("service") { deaths.append($0) }
        }
        _ = try await locator?.resolveAsync((any Greeter).self)
        weak let owner = locator
        locator = nil
        await yield { owner == nil }
        // The task still runs. Every other reference to the service is released soon.
        for _ in 0..<100_000 where deaths.all.isEmpty { await Task.yield() }
        #expect(deaths.all == ["service"])
        gate.open()
        await yield { inside.value == 1 }
    }

    @Test("A task that an asynchronous factory starts resolves the service once it is built")
    func workResolvesTheService() async throws {
        let locator = ServiceLocator(name: "app")
        let greetings = Recorder<String>()
        try locator.registerAsync((any Greeter).self) { [gate] locator in
            Task {
                await gate.pass()
                greetings.append((try? await locator.resolveAsync((any Greeter).self).greeting) ?? "none")
            }
            return PoliteGreeter()
        }
        _ = try await locator.resolveAsync((any Greeter).self)
        gate.open()
        await yield { !greetings.all.isEmpty }
        #expect(greetings.all == ["Good day"])
    }
}
