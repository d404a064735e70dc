import EssentialsLocator
import Testing

@Suite("Lazy registrations")
struct LazyRegistrationTests {
    let locator = ServiceLocator(name: "app")

    @Test("A factory runs at the first resolve and never again")
    func builtOnce() throws {
        let builds = Counter()
        try locator.registerLazy((any Greeter).self) { _ in
            builds.increment()
            return PoliteGreeter()
        }
        #expect(builds.value == 0)
        let first = try locator.resolve((any Greeter).self)
        #expect(try locator.resolve((any Greeter).self) === first)
        #expect(builds.value == 1)
    }

    @Test("A factory that throws is kept and runs again at the next resolve")
    func retries() throws {
        let builds = Counter()
        try locator.registerLazy((any Greeter).self) { _ in
            if builds.increment() < 3 { throw FactoryFailure() }
            return PoliteGreeter()
        }
        for _ in 0..<2 {
            let error = failure { () throws(ServiceLocatorError) in try locator.resolve((any Greeter).self) }
            #expect(error?.reason == .constructionFailed)
            #expect(error?.underlying is FactoryFailure)
        }
        #expect(try locator.resolve((any Greeter).self).greeting == "Good day")
        #expect(builds.value == 3)
    }

    @Test("resolveOptional throws if a registered factory fails, even because of a missing service")
    func optionalStillThrows() throws {
        try locator.registerLazy((any Mailer).self) { locator in
            try GreetingMailer(greeter: locator.resolve((any Greeter).self))
        }
        let error = failure { () throws(ServiceLocatorError) in try locator.resolveOptional((any Mailer).self) }
        #expect(error?.reason == .constructionFailed)
        #expect((error?.underlying as? ServiceLocatorError)?.reason == .missing)
    }

    @Test("A deep chain of factories that resolve each other is built")
    func chain() throws {
        try locator.registerLazy(Int.self, named: "0") { _ in 1 }
        for index in 1..<40 {
            try locator.registerLazy(Int.self, named: "\(index)") { locator in
                try locator.resolve(Int.self, named: "\(index - 1)") + 1
            }
        }
        #expect(try locator.resolve(Int.self, named: "39") == 40)
    }

    @Test("A factory may register and replace other services in its locator")
    func factoryRegisters() throws {
        try locator.registerLazy((any Mailer).self) { locator in
            for index in 0..<100 { try locator.register(index, as: Int.self, named: "\(index)") }
            return GreetingMailer(greeter: PoliteGreeter())
        }
        _ = try locator.resolve((any Mailer).self)
        #expect(try locator.resolve(Int.self, named: "99") == 99)
    }

    @Test("Objects that a factory captured are released after it succeeds, and not after it fails")
    func captureReleased() throws {
        let deaths = Recorder<String>()
        let attempts = Counter()
        try registerCapturing(Mortal { deaths.append($0) }, attempts: attempts)
        _ = failure { () throws(ServiceLocatorError) in try locator.resolve(Int.self) }
        #expect(deaths.all.isEmpty)
        #expect(try locator.resolve(Int.self) == 6)
        #expect(deaths.all == ["Mortal"])
    }

    private func registerCapturing(_ mortal: Mortal, attempts: Counter) throws {
        try locator.registerLazy(Int.self) { _ in
            if attempts.increment() == 1 { throw FactoryFailure() }
            return mortal.greeting.count
        }
    }

    @Test(
        "Objects that a factory captured are released if its registration is removed before it runs",
        arguments: ["unregister", "replace", "replaceLazy", "locator"])
    func unbuiltReleased(how: String) throws {
        let deaths = Recorder<String>()
        var scope: ServiceLocator? = ServiceLocator(name: "scope")
        do {
            let mortal = Mortal { deaths.append($0) }
            try scope?.registerLazy(Int.self) { _ in mortal.greeting.count }
        }
        #expect(deaths.all.isEmpty)
        switch how {
        case "unregister": scope?.unregister(Int.self)
        case "replace": #expect(try scope?.replace(1, as: Int.self) == nil)
        case "replaceLazy": #expect(try scope?.replaceLazy(Int.self) { _ in 1 } == nil)
        default: scope = nil
        }
        #expect(deaths.all == ["Mortal"])
    }

    @Test("replaceLazy returns the built service and builds the new one at the next resolve")
    func replaceLazy() throws {
        try locator.registerLazy((any Greeter).self) { _ in PoliteGreeter("first") }
        let first = try locator.resolve((any Greeter).self)
        #expect(try locator.replaceLazy((any Greeter).self) { _ in PoliteGreeter("second") } === first)
        #expect(try locator.resolve((any Greeter).self).greeting == "second")
    }

    @Test("A service that its own factory replaces stays replaced, and the thread that builds gets the old one")
    func replacedByFactory() throws {
        try locator.registerLazy((any Greeter).self) { locator in
            try locator.replace(PoliteGreeter("new"), as: (any Greeter).self)
            return PoliteGreeter("old")
        }
        #expect(try locator.resolve((any Greeter).self).greeting == "old")
        #expect(try locator.resolve((any Greeter).self).greeting == "new")
    }

    @Test("A service that its own factory unregisters goes to the thread that builds and is missing afterwards")
    func unregisteredByFactory() throws {
        try locator.registerLazy((any Greeter).self) { locator in
            locator.unregister((any Greeter).self)
            return PoliteGreeter("last")
        }
        #expect(try locator.resolve((any Greeter).self).greeting == "last")
        #expect(try locator.resolveOptional((any Greeter).self) == nil)
    }

    @Test("A running factory keeps its locator alive")
    func locatorLivesWhileBuilding() throws {
        weak var observed: ServiceLocator?
        let survived = Recorder<Bool>()
        func makeAndResolve() throws -> Int {
            let scope = ServiceLocator(name: "scope")
            observed = scope
            try scope.register(5, as: Int.self, named: "five")
            try scope.registerLazy(Int.self) { locator in
                let five = try locator.resolve(Int.self, named: "five")
                survived.append(five == 5)
                return five
            }
            return try ServiceLocator(name: "child", parent: scope).resolve(Int.self)
        }
        #expect(try makeAndResolve() == 5)
        #expect(survived.all == [true])
        #expect(observed == nil)
    }
}
