import EssentialsLocator
import Testing

extension SemanticsTests {
    // MARK: Registration values

    @Test("registerIfAbsent returns a registration that can be removed, or nil if there is one already")
    func ifAbsentToken() throws {
        let first = try #require(try root.registerIfAbsent(1, as: Int.self))
        #expect(try root.registerIfAbsent(2, as: Int.self) == nil)
        #expect(try root.resolve(Int.self) == 1)
        #expect(root.unregister(first))
        #expect(try root.registerIfAbsent(3, as: Int.self) != nil)
        #expect(try root.resolve(Int.self) == 3)
    }

    @Test("unregister removes exactly the given registration, once, and the parent's becomes visible")
    func token() throws {
        let child = ServiceLocator(name: "child", parent: root)
        try root.register(0, as: Int.self)
        let registration = try child.register(1, as: Int.self)
        try child.register(2, as: Int.self, named: "two")
        #expect(child.unregister(registration))
        #expect(!child.unregister(registration))
        #expect(try child.resolve(Int.self) == 0)
        #expect(try child.resolve(Int.self, named: "two") == 2)
    }

    @Test(
        "unregister does not remove a later registration of the same key", arguments: ["register", "replace", "lazy"])
    func tokenOfAnEarlier(how: String) throws {
        let first = try root.register(1, as: Int.self)
        switch how {
        case "register":
            root.unregister(Int.self)
            try root.register(2, as: Int.self)
        case "replace": try root.replace(2, as: Int.self)
        default: try root.replaceLazy(Int.self) { _ in 2 }
        }
        #expect(!root.unregister(first))
        #expect(try root.resolve(Int.self) == 2)
    }

    @Test("unregister ignores registrations of other locators")
    func tokenOfAnother() throws {
        let child = ServiceLocator(name: "child", parent: root)
        let stranger = ServiceLocator(name: "stranger")
        let registrations = try [root, child, stranger].map { try $0.register(1, as: Int.self) }
        #expect(!root.unregister(registrations[1]))
        #expect(!child.unregister(registrations[0]))
        #expect(!stranger.unregister(registrations[0]))
        for locator in [root, child, stranger] { #expect(try locator.resolve(Int.self) == 1) }
        #expect(Set(registrations).count == 3)
    }

    @Test("unregister removes registrations of every kind")
    func tokensOfAllKinds() async throws {
        let object = PoliteGreeter()
        let registrations = [
            try root.register(object, as: (any Greeter).self, named: "strong"),
            try root.registerLazy((any Greeter).self, named: "lazy") { _ in object },
            try root.registerWeak(object, as: (any Greeter).self, named: "weak") { $0 },
            try root.registerWeakProxy(object, as: (any Greeter).self, named: "proxy") { $0 },
            try root.registerTransient((any Greeter).self, named: "transient") { _ in object },
            try root.registerTransient((any Greeter).self, named: "arguments") { (_, _: Int) in object },
            try root.registerAsync((any Greeter).self, named: "async") { _ in object },
            try await root.registerOnMainActor(object, as: (any Greeter).self, named: "main actor"),
        ]
        #expect(root.graph().locators.first?.registrations.count == registrations.count)
        for registration in registrations { #expect(root.unregister(registration)) }
        #expect(root.graph().locators.first?.registrations == [])
    }

    @Test("unregister releases a factory that has not run", arguments: ["lazy", "async"])
    func tokenReleases(kind: String) throws {
        let deaths = Recorder<String>()
        func register() throws -> Registration {
            let bait = Mortal("bait") { deaths.append($0) }
            if kind == "lazy" { return try root.registerLazy(Int.self) { _ in bait.greeting.count } }
            return try root.registerAsync(Int.self) { _ in bait.greeting.count }
        }
        let registration = try register()
        #expect(deaths.all.isEmpty)
        #expect(root.unregister(registration))
        #expect(deaths.all == ["bait"])
    }

    // MARK: Several types

    @Test("An object with several types is found by each of them, and unregister removes all of them")
    func severalTypes() throws {
        let object = GreetingClock()
        let registration = try root.register(
            object, as: (any Greeter).self, (any Clock).self, GreetingClock.self, (any Sendable).self, named: "x")
        #expect(try root.resolve((any Greeter).self, named: "x") === object)
        #expect(try root.resolve((any Clock).self, named: "x") === object)
        #expect(try root.resolve(GreetingClock.self, named: "x") === object)
        #expect(try root.resolve((any Sendable).self, named: "x") as? GreetingClock === object)
        #expect(try root.resolveOptional((any Greeter).self) == nil)
        #expect(root.unregister(registration))
        #expect(root.graph().locators.first?.registrations == [])
        #expect(!root.unregister(registration))
    }

    @Test("unregister of several types removes only those that were not replaced since")
    func severalTypesReplaced() throws {
        let registration = try root.register(GreetingClock(), as: (any Greeter).self, (any Clock).self)
        try root.replace(PoliteGreeter("new"), as: (any Greeter).self)
        #expect(root.unregister(registration))
        #expect(try root.resolve((any Greeter).self).greeting == "new")
        #expect(try root.resolveOptional((any Clock).self) == nil)
    }

    @Test("An object without one of the types is registered for none of them")
    func notConforming() throws {
        let error = failure { () throws(ServiceLocatorError) in
            try root.register(
                PoliteGreeter(), as: (any Greeter).self, (any Clock).self, (any Mailer).self, fileID: "App/Main.swift",
                line: 6)
        }
        #expect(error?.reason == .notConforming)
        #expect(
            error?.message == "\(String(reflecting: PoliteGreeter.self)) cannot be registered as "
                + "\(String(reflecting: (any Clock).self)) in \"root\" at App/Main.swift:6, because it is not "
                + "of that type.")
        #expect(root.graph().locators.first?.registrations == [])
    }

    @Test("A duplicate among several types, even in the same call, registers none of them")
    func severalTypesDuplicate() throws {
        let first = try root.register(FixedClock(), as: (any Clock).self, fileID: "App/First.swift", line: 1)
        let object = GreetingClock()
        let taken = failure { () throws(ServiceLocatorError) in
            try root.register(object, as: (any Greeter).self, (any Clock).self, GreetingClock.self)
        }
        #expect(taken?.reason == .duplicate)
        #expect(taken?.serviceType == String(reflecting: (any Clock).self))
        #expect(taken?.message.hasSuffix("because it was already registered at App/First.swift:1.") == true)
        let twice = failure { () throws(ServiceLocatorError) in
            try root.register(object, as: (any Greeter).self, GreetingClock.self, (any Greeter).self)
        }
        #expect(twice?.reason == .duplicate)
        #expect(twice?.serviceType == greeterType)
        #expect(root.graph().locators.first?.registrations.count == 1)
        #expect(root.unregister(first))
        try root.register(object, as: (any Greeter).self, (any Clock).self)
    }

    @Test("Several types that together exceed the registration limit register none of them")
    func severalTypesLimit() throws {
        let small = ServiceLocator(name: "small", registrationLimit: 2)
        let error = failure { () throws(ServiceLocatorError) in
            try small.register(GreetingClock(), as: (any Greeter).self, (any Clock).self, GreetingClock.self)
        }
        #expect(error?.reason == .tooManyRegistrations)
        #expect(small.graph().locators.first?.registrations == [])
        try small.register(GreetingClock(), as: (any Greeter).self, (any Clock).self)
    }

    // MARK: Replacing

    @Test("replace returns the service of every kind that retains one, and nil for the others")
    func replaceOfAllKinds() async throws {
        let object = PoliteGreeter("old")
        let type = (any Greeter).self
        try root.register(object, as: type, named: "strong")
        for name in ["lazy", "lazy unbuilt"] { try root.registerLazy(type, named: name) { _ in object } }
        for name in ["async", "async unbuilt"] { try root.registerAsync(type, named: name) { _ in object } }
        try root.registerTransient(type, named: "transient") { _ in object }
        try root.registerTransient(type, named: "arguments") { (_, _: Int) in object }
        try root.registerWeak(object, as: type, named: "weak") { $0 }
        _ = try root.resolve(type, named: "lazy")
        _ = try await root.resolveAsync(type, named: "async")
        for name in ["strong", "lazy", "async"] {
            #expect(try root.replace(PoliteGreeter(), as: type, named: name) === object, "\(name)")
        }
        for name in ["lazy unbuilt", "async unbuilt", "transient", "arguments", "weak", "none"] {
            #expect(try root.replace(PoliteGreeter(), as: type, named: name) == nil, "\(name)")
        }
        withExtendedLifetime(object) {}
    }

    @Test("replace distinguishes a service that is nil from one that was never built")
    func replaceOptional() throws {
        try root.register(nil, as: Double?.self, named: "nil")
        #expect(try root.replace(1, as: Double?.self, named: "nil") == .some(.none))
        try root.registerLazy(Double?.self, named: "unbuilt") { _ in 2 }
        #expect(try root.replace(1, as: Double?.self, named: "unbuilt") == Double??.none)
        try root.registerTransient(Double?.self, named: "transient") { _ in 2 }
        #expect(try root.replace(1, as: Double?.self, named: "transient") == Double??.none)
    }

    // MARK: Near misses

    @Test("An unbuilt service and a service of another type are not near misses of an optional type")
    func nearMissesOfOptional() throws {
        try root.registerLazy(Int.self, named: "unbuilt") { _ in 1 }
        try root.registerTransient(Int.self, named: "transient") { _ in 1 }
        try root.register(1, as: Int.self)
        let error = failure { () throws(ServiceLocatorError) in try root.resolve(Double?.self) }
        #expect(error?.reason == .missing)
        #expect(error?.nearMisses == [])
    }

    @Test("Near misses include a released weak service, a service of the main actor, and one with another name")
    func nearMisses() async throws {
        try root.registerWeak(PoliteGreeter(), as: (any Greeter).self, fileID: "App/A.swift", line: 1) { $0 }
        try await root.registerOnMainActor(
            PoliteGreeter(), as: (any Greeter).self, named: "main", fileID: "App/B.swift", line: 2)
        try root.registerTransient((any Greeter).self, named: "other", fileID: "App/C.swift", line: 3) { _ in
            PoliteGreeter()
        }
        let error = failure { () throws(ServiceLocatorError) in try root.resolve((any Greeter).self) }
        #expect(
            error?.nearMisses == [
                "\(greeterType) in \"root\" (App/A.swift:1), whose object is gone: it was registered weakly",
                "\(greeterType) (main actor) named \"main\" in \"root\" (App/B.swift:2): use resolveOnMainActor",
                "\(greeterType) named \"other\" in \"root\" (App/C.swift:3)",
            ])
        // The released object is the likeliest cause.
        #expect(error?.remedy == ServiceLocatorError.Reason.serviceGone.remedy)
    }

    @Test("The key is the type and the name: an existential, its optional and the concrete class are three types")
    func keys() throws {
        let object = PoliteGreeter("class")
        try root.register(object, as: PoliteGreeter.self)
        try root.register(PoliteGreeter("existential"), as: (any Greeter).self)
        try root.register(PoliteGreeter("optional"), as: (any Greeter)?.self)
        #expect(try root.resolve(PoliteGreeter.self) === object)
        #expect(try root.resolve((any Greeter).self).greeting == "existential")
        #expect(try root.resolve((any Greeter)?.self)?.greeting == "optional")
    }
}
