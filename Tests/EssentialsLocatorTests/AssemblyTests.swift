import EssentialsLocator
import Testing

@Suite("Assembly", .timeLimit(.minutes(5)))
struct AssemblyTests {
    /// A group that registers its name as a service with that name.
    private func group(_ name: String, including included: [Assembly] = []) -> Assembly {
        Assembly(name, including: included) { locator in
            try locator.register(name, as: String.self, named: name)
        }
    }

    /// A group that registers `value` under each of `keys`.
    private func doubles(_ value: String, for keys: String...) -> Assembly {
        Assembly("doubles \(value)") { locator in
            for key in keys { try locator.register(value, as: String.self, named: key) }
        }
    }

    private func names(in locator: ServiceLocator) -> [String?] {
        locator.graph().locators.first?.registrations.map(\.name) ?? []
    }

    // MARK: Composing

    @Test("A locator has the registrations of a group and of its included groups, which are registered first")
    func composing() throws {
        let network = group("network", including: [group("transport")])
        let app = group("app", including: [network, group("storage")])
        let parent = ServiceLocator(name: "parent")
        let locator = try app.makeLocator(parent: parent)
        #expect(names(in: locator) == ["transport", "network", "storage", "app"])
        #expect(locator.name == "app")
        #expect(locator.parent === parent)
        #expect(try app.makeLocator(name: "other").name == "other")
        #expect(names(in: parent) == [])
        #expect(app.included.map(\.name) == ["network", "storage"])
    }

    @Test("Creating a group registers nothing, and each installation runs its closure again")
    func value() throws {
        let runs = Counter()
        let app = Assembly("app") { locator in
            runs.increment()
            try locator.registerLazy((any Greeter).self) { _ in PoliteGreeter() }
        }
        #expect(runs.value == 0)
        let first = try app.makeLocator().resolve((any Greeter).self)
        #expect(try app.makeLocator().resolve((any Greeter).self) !== first)
        #expect(runs.value == 2)
    }

    @Test("A group that two other groups include is registered once")
    func inclusionOnce() throws {
        let log = group("log")
        let app = group(
            "app", including: [group("network", including: [log]), group("storage", including: [log]), log])
        #expect(names(in: try app.makeLocator()) == ["log", "network", "storage", "app"])
    }

    @Test("A group without its own registrations combines other groups")
    func bundle() throws {
        #expect(names(in: try Assembly("all", including: [group("a"), group("b")]).makeLocator()) == ["a", "b"])
        #expect(names(in: try Assembly("none").makeLocator()) == [])
    }

    @Test("Lazy factories receive the locator and find services that other groups register later")
    func realLocator() throws {
        let network = Assembly("network") { locator in
            try locator.registerLazy((any Greeter).self) { locator in
                PoliteGreeter("\(locator.name): \(try locator.resolve(String.self, named: "app"))")
            }
            try locator.registerTransient((any Mailer).self) { locator in
                GreetingMailer(greeter: try locator.resolve((any Greeter).self))
            }
        }
        let locator = try group("app", including: [network]).makeLocator(name: "real")
        #expect(try locator.resolve((any Mailer).self).greeter.greeting == "real: app")
        try locator.register(1, as: Int.self)
        #expect(try locator.resolve(Int.self) == 1)
    }

    // MARK: Validating

    @Test(
        "validate returns the failures of all groups together, and another group or doubles can fix them"
    )
    func validating() async throws {
        let network = Assembly("network") { locator in
            try locator.registerLazy((any Mailer).self) { locator in
                GreetingMailer(greeter: try locator.resolve((any Greeter).self))
            }
        }
        let storage = Assembly("storage", including: [group("paths")]) { locator in
            try locator.registerLazy(Int.self) { _ in throw FactoryFailure("no disk") }
        }
        let found = try await failures(of: Assembly("app", including: [network, storage]))
        #expect(found.map(\.reason) == [.constructionFailed, .constructionFailed])
        #expect(found.map(\.serviceType) == [String(reflecting: (any Mailer).self), "Swift.Int"])
        #expect((found.first?.underlying as? ServiceLocatorError)?.reason == .missing)
        #expect((found.last?.underlying as? FactoryFailure)?.description == "no disk")
        let greetings = Assembly("greetings") { locator in
            try locator.register(PoliteGreeter(), as: (any Greeter).self)
        }
        let complete = Assembly("app", including: [network, storage, greetings])
        #expect(try await failures(of: complete).map(\.serviceType) == ["Swift.Int"])
        let disk = Assembly("disk") { locator in
            try locator.registerLazy(Int.self) { _ in 1 }
        }
        #expect(try await failures(of: complete, overriding: [disk]).isEmpty)
    }

    private func failures(
        of assembly: Assembly, overriding doubles: [Assembly] = []
    ) async throws -> [ServiceLocatorError] {
        await (try assembly.makeLocator(overriding: doubles)).validate()
    }

    // MARK: All or nothing

    @Test("Two groups that register the same key throw an error that names both lines")
    func duplicates() throws {
        let first = Assembly("first") { locator in
            try locator.register(1, as: Int.self, fileID: "App/First.swift", line: 1)
        }
        let second = Assembly("second") { locator in
            try locator.register(2, as: Int.self, fileID: "App/Second.swift", line: 2)
        }
        let error = thrown { try Assembly("app", including: [first, second]).makeLocator() }
        #expect(error?.reason == .duplicate)
        #expect(error?.message.contains("App/First.swift:1") == true)
        #expect(error?.message.contains("App/Second.swift:2") == true)
    }

    @Test("An installation that fails leaves the locator unchanged")
    func nothingIsLeft() throws {
        let locator = ServiceLocator(name: "existing")
        let deaths = Recorder<String>()
        try locator.register("there", as: String.self, named: "storage")
        let captured = Assembly("captured") { locator in
            let service = Mortal("captured") { deaths.append($0) }
            try locator.registerLazy((any Greeter).self) { _ in service }
        }
        let several = Assembly("several") { locator in
            try locator.register(GreetingClock(), as: (any Clock).self, GreetingClock.self)
        }
        let app = group("app", including: [captured, several, group("network"), group("storage"), group("never")])
        #expect(thrown { try app.install(in: locator) }?.reason == .duplicate)
        #expect(names(in: locator) == ["storage"])
        #expect(try locator.resolve(String.self, named: "storage") == "there")
        #expect(deaths.all == ["captured"])
        locator.unregister(String.self, named: "storage")
        try app.install(in: locator)
        #expect(names(in: locator).count == 7)
    }

    @Test("An installation in an existing locator adds registrations and overrides the parent's")
    func existing() throws {
        let parent = ServiceLocator(name: "parent")
        let locator = ServiceLocator(name: "existing", parent: parent)
        try parent.register("parent's", as: String.self, named: "app")
        try locator.register("mine", as: String.self)
        try group("app").install(in: locator)
        #expect(names(in: locator) == [nil, "app"])
        #expect(try locator.resolve(String.self, named: "app") == "app")
        #expect(try parent.resolve(String.self, named: "app") == "parent's")
        #expect(thrown { try group("app").install(in: locator) }?.reason == .duplicate)
    }

    @Test("An error that a group throws itself also undoes its registrations")
    func bodyThrows() throws {
        let locator = ServiceLocator(name: "existing")
        let app = Assembly("app", including: [group("network")]) { locator in
            _ = try locator.resolve(Double.self)
        }
        #expect(thrown { try app.install(in: locator) }?.reason == .missing)
        #expect(names(in: locator) == [])
    }

    @Test("A group that another group installs in the same locator is undone with the rest")
    func installedInside() throws {
        let locator = ServiceLocator(name: "existing")
        let network = group("network")
        let app = Assembly("app") { locator in
            try network.install(in: locator)
            _ = try locator.resolve(Double.self)
        }
        #expect(thrown { try app.install(in: locator) }?.reason == .missing)
        #expect(names(in: locator) == [])
    }

    // MARK: Overriding

    @Test("Doubles replace registrations of every kind and change no others")
    func overriding() throws {
        let groups = [group("network"), group("storage")]
        let app = Assembly("app", including: groups) { locator in
            try locator.registerLazy(String.self, named: "lazy") { _ in "real" }
            try locator.registerAsync(String.self, named: "async") { _ in "real" }
            try locator.registerTransient(String.self, named: "transient") { _ in "real" }
            try locator.registerIfAbsent("real", as: String.self, named: "absent")
        }
        let locator = try app.makeLocator(
            overriding: [doubles("double", for: "network", "lazy", "async", "transient", "absent", "new")])
        for name in ["network", "lazy", "async", "transient", "absent", "new"] {
            #expect(try locator.resolve(String.self, named: name) == "double")
        }
        #expect(try locator.resolve(String.self, named: "storage") == "storage")
        #expect(names(in: locator).count == 7)
        #expect(try app.makeLocator().resolve(String.self, named: "network") == "network")
    }

    @Test("The last of several layers of doubles wins, however they are passed")
    func layers() throws {
        let app = group("app", including: [group("network"), group("storage")])
        let layers = [doubles("1", for: "app", "network", "storage"), doubles("2", for: "app", "network")]
        let last = doubles("3", for: "app")
        let locators = [
            try app.makeLocator(overriding: layers + [last]),
            try app.overridden(by: layers[0]).overridden(by: layers[1]).overridden(by: last).makeLocator(),
            try app.overridden(by: layers[0]).makeLocator(overriding: [layers[1], last]),
        ]
        for locator in locators {
            #expect(try locator.resolve(String.self, named: "app") == "3")
            #expect(try locator.resolve(String.self, named: "network") == "2")
            #expect(try locator.resolve(String.self, named: "storage") == "1")
        }
    }

    @Test("Registering one object for several types skips the types that doubles override")
    func severalTypes() throws {
        let app = Assembly("app") { locator in
            try locator.register(GreetingClock(), as: (any Greeter).self, (any Clock).self, GreetingClock.self)
        }
        let double = Assembly("double") { locator in
            try locator.register(FixedClock(hour: 9), as: (any Clock).self)
        }
        let locator = try app.makeLocator(overriding: [double])
        #expect(try locator.resolve((any Clock).self).hour == 9)
        #expect(try locator.resolve((any Greeter).self) === locator.resolve(GreetingClock.self))
        let first = Assembly("first") { locator in
            try locator.register(PoliteGreeter("double"), as: (any Greeter).self)
        }
        let other = try app.makeLocator(overriding: [double, first])
        #expect(try other.resolve((any Greeter).self).greeting == "double")
        #expect(try other.resolve((any Clock).self).hour == 9)
        #expect(try other.resolve(GreetingClock.self).hour == 1)
    }

    @Test("Two registrations of one key are a duplicate within one layer of doubles and in groups with other doubles")
    func duplicatesInLayers() throws {
        let twice = Assembly("twice", including: [doubles("1", for: "app"), doubles("2", for: "app")])
        #expect(thrown { try group("app").makeLocator(overriding: [twice]) }?.reason == .duplicate)
        let app = Assembly("app", including: [group("network"), doubles("3", for: "network")])
        #expect(thrown { try app.makeLocator(overriding: [doubles("4", for: "x")]) }?.reason == .duplicate)
    }

    @Test("An installation with doubles that fails leaves the locator unchanged")
    func failingOverride() throws {
        let locator = ServiceLocator(name: "existing")
        try locator.register("there", as: String.self, named: "storage")
        let app = group("app", including: [group("network"), group("storage")])
            .overridden(by: doubles("double", for: "network"))
        #expect(thrown { try app.install(in: locator) }?.reason == .duplicate)
        #expect(names(in: locator) == ["storage"])
    }

    @Test("A group keeps its doubles if another group includes it")
    func includedWithDoubles() throws {
        let network = group("network").overridden(by: doubles("double", for: "network"))
        let locator = try group("app", including: [network]).makeLocator()
        #expect(try locator.resolve(String.self, named: "network") == "double")
    }

    @Test("Doubles keep their own doubles")
    func doublesWithDoubles() throws {
        let first = doubles("1", for: "app").overridden(by: doubles("2", for: "app"))
        let locator = try group("app").makeLocator(overriding: [first])
        #expect(try locator.resolve(String.self, named: "app") == "2")
    }

    @Test("Doubles override registrations that a group makes with replace, and a failure restores the replaced ones")
    func replacing() throws {
        let app = Assembly("app") { locator in
            try locator.replace("replaced", as: String.self, named: "network")
            try locator.replaceLazy(String.self, named: "lazy") { _ in "replaced" }
        }
        let locator = try app.makeLocator(overriding: [doubles("double", for: "network", "lazy")])
        #expect(try locator.resolve(String.self, named: "network") == "double")
        #expect(try locator.resolve(String.self, named: "lazy") == "double")
        let existing = ServiceLocator(name: "existing")
        try existing.register("there", as: String.self, named: "network")
        let failing = Assembly("failing", including: [app]) { locator in
            _ = try locator.resolve(Double.self)
        }
        #expect(thrown { try failing.install(in: existing) }?.reason == .missing)
        #expect(try existing.resolve(String.self, named: "network") == "there")
    }

    // MARK: Tasks and threads

    @Test("Many tasks install one group at once, each with its own doubles")
    func parallel() async throws {
        let app = group("app", including: [group("network"), group("storage")])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<50 {
                let double = doubles("\(index)", for: "network")
                group.addTask {
                    let locator = try app.makeLocator(overriding: [double])
                    #expect(try locator.resolve(String.self, named: "network") == "\(index)")
                    #expect(try locator.resolve(String.self, named: "storage") == "storage")
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(
        "One of several threads that install the same group in one locator succeeds, and its registrations are complete"
    )
    func oneInstallation() {
        let app = group("app", including: [group("network"), group("storage")])
        for _ in 0..<50 {
            let locator = ServiceLocator(name: "existing")
            let wins = Counter()
            Workers.run(4) { _ in
                switch thrown(by: { try app.install(in: locator) })?.reason {
                case nil: wins.increment()
                case .duplicate?: break
                default: Issue.record("fails otherwise")
                }
            }
            #expect(wins.value <= 1)
            #expect(names(in: locator).count == wins.value * 3)
        }
    }

    @Test("A group that creates a locator from another group does not mix the two")
    func nested() throws {
        let inner = group("network").overridden(by: doubles("inner", for: "network"))
        let app = Assembly("app") { locator in
            let other = try inner.makeLocator(name: "other", parent: locator)
            try locator.register(other.resolve(String.self, named: "network"), as: String.self, named: "seen")
            try other.register("late", as: String.self, named: "app")
            try locator.register("app", as: String.self, named: "app")
            try locator.register("real", as: String.self, named: "storage")
        }
        let locator = try app.makeLocator(overriding: [doubles("outer", for: "storage")])
        #expect(try locator.resolve(String.self, named: "seen") == "inner")
        #expect(try locator.resolve(String.self, named: "app") == "app")
        #expect(try locator.resolve(String.self, named: "storage") == "outer")
        #expect(try locator.resolveOptional(String.self, named: "network") == nil)
    }
}
