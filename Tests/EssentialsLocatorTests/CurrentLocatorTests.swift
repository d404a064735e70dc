import EssentialsLocator
import Testing

private struct Checkout {
    @Resolved var greeter: any Greeter
    @Resolved(named: "audit") var audit: any Greeter
}

/// An object that its own locator holds.
@MainActor private final class Badge {
    @WeaklyResolved var greeter: (any Greeter)?
}

@Suite("The current locator", .timeLimit(.minutes(5)))
struct CurrentLocatorTests {
    let doubles = ServiceLocator(name: "doubles")

    @Test("The current locator is the shared one unless a caller has replaced it")
    func shared() {
        #expect(ServiceLocator.current === ServiceLocator.shared)
        #expect(ServiceLocator.shared.name == "shared")
        #expect(ServiceLocator.shared.parent == nil)
        ServiceLocator.$current.withValue(doubles) {
            #expect(ServiceLocator.current === doubles)
        }
        #expect(ServiceLocator.current === ServiceLocator.shared)
    }

    @Test("Concurrent tasks each have their own current locator")
    func parallel() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<50 {
                group.addTask {
                    let locator = ServiceLocator(name: "\(index)")
                    try locator.register(index, as: Int.self)
                    try await ServiceLocator.$current.withValue(locator) {
                        for _ in 0..<5 {
                            await Task.yield()
                            #expect(try ServiceLocator.current.resolve(Int.self) == index)
                        }
                        async let child = ServiceLocator.current.resolve(Int.self)
                        let seen = try await child
                        #expect(seen == index)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A task inherits the current locator even if it outlives the call, and a detached task does not")
    func tasks() async {
        let gate = AsyncGate()
        let (inherited, detached) = ServiceLocator.$current.withValue(doubles) {
            let inherited = Task {
                await gate.pass()
                return ServiceLocator.current.name
            }
            return (inherited, Task.detached { ServiceLocator.current.name })
        }
        gate.open()
        #expect(await inherited.value == "doubles")
        #expect(await detached.value == "shared")
    }

    @Test("The current locator of a new thread is the shared one")
    func threads() {
        let names = Recorder<String>()
        ServiceLocator.$current.withValue(doubles) {
            Workers.run(2) { _ in names.append(ServiceLocator.current.name) }
        }
        #expect(names.all == ["shared", "shared"])
    }
}

@Suite("Resolved", .timeLimit(.minutes(5)))
struct ResolvedTests {
    let locator = ServiceLocator(name: "app")
    let builds = Counter()

    private func registerTransient(_ name: String? = nil) throws {
        try locator.registerTransient((any Greeter).self, named: name) { [builds] _ in
            PoliteGreeter("\(builds.increment())")
        }
    }

    @Test("Resolved resolves its service once, at the first use, and copies share it")
    func once() throws {
        try registerTransient()
        try registerTransient("audit")
        let checkout = ServiceLocator.$current.withValue(locator) { Checkout() }
        let early = checkout
        #expect(builds.value == 0)
        #expect(checkout.greeter.greeting == "1")
        #expect(checkout.greeter === early.greeter)
        #expect(early.audit.greeting == "2")
        #expect(checkout.audit === early.audit)
        #expect(try checkout.$greeter.resolve() === early.greeter)
        #expect(builds.value == 2)
    }

    @Test("Resolved uses the locator that was current when it was created, or the one that was passed")
    func captured() throws {
        let other = ServiceLocator(name: "other")
        try locator.register(PoliteGreeter("app"), as: (any Greeter).self)
        try other.register(PoliteGreeter("other"), as: (any Greeter).self)
        let checkout = ServiceLocator.$current.withValue(locator) { Checkout() }
        let given = ServiceLocator.$current.withValue(locator) { Resolved<any Greeter>(from: other) }
        ServiceLocator.$current.withValue(other) {
            #expect(checkout.greeter.greeting == "app")
        }
        #expect(given.wrappedValue.greeting == "other")
    }

    @Test("Resolved keeps its service if the registration is replaced or the locator is closed")
    func kept() async throws {
        try locator.register(PoliteGreeter("first"), as: (any Greeter).self)
        let resolved = Resolved<any Greeter>(from: locator)
        #expect(resolved.wrappedValue.greeting == "first")
        try locator.replace(PoliteGreeter("second"), as: (any Greeter).self)
        #expect(resolved.wrappedValue.greeting == "first")
        await locator.close()
        #expect(resolved.wrappedValue.greeting == "first")
        #expect(thrown { try Resolved<any Greeter>(from: locator).resolve() }?.reason == .closed)
    }

    @Test("The projected value of Resolved throws, and resolves again at the next use")
    func retries() throws {
        let checkout = ServiceLocator.$current.withValue(locator) { Checkout() }
        #expect(thrown { try checkout.$greeter.resolve() }?.reason == .missing)
        #expect(thrown { try checkout.$audit.resolve() }?.serviceName == "audit")
        try locator.register(PoliteGreeter("late"), as: (any Greeter).self)
        #expect(try checkout.$greeter.resolve().greeting == "late")
        #expect(checkout.greeter.greeting == "late")
    }

    @Test("Threads that read Resolved first all get the same service, and other instances are released")
    func threads() throws {
        let deaths = Counter()
        for _ in 0..<20 {
            let locator = ServiceLocator(name: "app")
            try locator.registerTransient((any Greeter).self) { [builds] _ in
                builds.increment()
                return Mortal { _ in deaths.increment() }
            }
            let resolved = Resolved<any Greeter>(from: locator)
            let found = Recorder<ObjectIdentifier>()
            Workers.run(4) { _ in found.append(ObjectIdentifier(resolved.wrappedValue)) }
            #expect(found.all.count == 4)
            #expect(Set(found.all).count == 1)
        }
        #expect(deaths.value == builds.value)
    }

    @Test(
        "Reading Resolved without a service ends the process with the error's text and the wrapper's line"
    )
    func trap() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent],
            performing: {
                let locator = ServiceLocator(name: "app")
                _ = Resolved<any Greeter>(named: "x", from: locator, fileID: "App/Main.swift", line: 5).wrappedValue
            })
        let error = thrown { try locator.resolve((any Greeter).self, named: "x") }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("\(error?.description ?? "?") Required at App/Main.swift:5."))
    }

    @Test("Resolved retains its locator")
    func retains() throws {
        weak var weakLocator: ServiceLocator?
        do {
            let resolved: Resolved<any Greeter>
            do {
                let locator = ServiceLocator(name: "short")
                try locator.register(PoliteGreeter("short"), as: (any Greeter).self)
                weakLocator = locator
                resolved = Resolved(from: locator)
            }
            #expect(weakLocator != nil)
            #expect(resolved.wrappedValue.greeting == "short")
        }
        #expect(weakLocator == nil)
    }
}

@Suite("WeaklyResolved", .timeLimit(.minutes(5))) @MainActor
struct WeaklyResolvedTests {
    let locator = ServiceLocator(name: "app")

    private func badge(in locator: ServiceLocator) -> Badge {
        ServiceLocator.$current.withValue(locator) { Badge() }
    }

    @Test("WeaklyResolved follows registrations and is nil without one")
    func follows() throws {
        let badge = badge(in: locator)
        #expect(badge.greeter == nil)
        try locator.register(PoliteGreeter("first"), as: (any Greeter).self)
        #expect(badge.greeter?.greeting == "first")
        try locator.replace(PoliteGreeter("second"), as: (any Greeter).self)
        #expect(badge.greeter?.greeting == "second")
        locator.unregister((any Greeter).self)
        #expect(badge.greeter == nil)
    }

    @Test("WeaklyResolved retains neither the service nor the locator, so the locator can hold the object that uses it")
    func retainsNothing() throws {
        let deaths = Recorder<String>()
        weak var weakLocator: ServiceLocator?
        weak var weakBadge: Badge?
        let outside: Badge
        do {
            let locator = ServiceLocator(name: "short")
            weakLocator = locator
            try locator.register(Mortal("service") { deaths.append($0) }, as: (any Greeter).self)
            let inside = badge(in: locator)
            weakBadge = inside
            try locator.register(inside, as: Badge.self)
            outside = badge(in: locator)
            #expect(outside.greeter?.greeting == "service")
        }
        #expect(weakLocator == nil)
        #expect(weakBadge == nil)
        #expect(deaths.all == ["service"])
        #expect(outside.greeter == nil)
        #expect(thrown { try outside.$greeter.resolve() }?.reason == .locatorGone)
        #expect(try outside.$greeter.resolveOptional() == nil)
    }

    @Test("WeaklyResolved is nil for a released object and a failing resolve, and the projected value throws the error")
    func failures() async throws {
        let badge = badge(in: locator)
        do {
            let greeter = PoliteGreeter("weak")
            try locator.registerWeak(greeter, as: (any Greeter).self) { $0 }
            #expect(badge.greeter === greeter)
        }
        #expect(badge.greeter == nil)
        try locator.registerLazy((any Greeter).self) { _ in throw FactoryFailure() }
        #expect(badge.greeter == nil)
        #expect(thrown { try badge.$greeter.resolve() }?.reason == .constructionFailed)
        #expect(thrown { try badge.$greeter.resolveOptional() }?.reason == .constructionFailed)
        await locator.close()
        #expect(badge.greeter == nil)
        #expect(thrown { try badge.$greeter.resolve() }?.reason == .closed)
    }

    @Test("WeaklyResolved resolves the registration with its name")
    func names() throws {
        try locator.register(1, as: Int.self, named: "one")
        #expect(WeaklyResolved<Int>(named: "one", from: locator).wrappedValue == 1)
        #expect(WeaklyResolved<Int>(from: locator).wrappedValue == nil)
    }
}
