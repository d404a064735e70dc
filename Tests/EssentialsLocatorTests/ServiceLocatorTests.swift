import EssentialsLocator
import Testing

@Suite("ServiceLocator: registering and resolving")
struct ServiceLocatorTests {
    let locator = ServiceLocator(name: "app")

    @Test("A registered service is resolved as the same object")
    func strong() throws {
        let greeter = PoliteGreeter()
        try locator.register(greeter, as: (any Greeter).self)
        #expect(try locator.resolve((any Greeter).self) === greeter)
        #expect(locator.require((any Greeter).self) === greeter)
        #expect(try locator.resolveOptional((any Greeter).self) === greeter)
    }

    @Test("A service is found by the type that it was registered for, not by its class")
    func keyIsTheRegisteredType() throws {
        try locator.register(PoliteGreeter(), as: (any Greeter).self)
        #expect(try locator.resolveOptional(PoliteGreeter.self) == nil)
    }

    @Test("Values and concrete types can be registered too")
    func values() throws {
        try locator.register(42, as: Int.self)
        try locator.register("text", as: String.self, named: "motto")
        try locator.register(nil, as: Double?.self)
        #expect(try locator.resolve(Int.self) == 42)
        #expect(try locator.resolve(String.self, named: "motto") == "text")
        #expect(try locator.resolve(Double?.self) == nil)
    }

    @Test("Names distinguish registrations of one type")
    func names() throws {
        try locator.register(PoliteGreeter("plain"), as: (any Greeter).self)
        try locator.register(PoliteGreeter("a"), as: (any Greeter).self, named: "a")
        try locator.registerLazy((any Greeter).self, named: "b") { _ in PoliteGreeter("b") }
        try locator.register(PoliteGreeter("empty"), as: (any Greeter).self, named: "")
        #expect(try locator.resolve((any Greeter).self).greeting == "plain")
        #expect(try locator.resolve((any Greeter).self, named: "a").greeting == "a")
        #expect(try locator.resolve((any Greeter).self, named: "b").greeting == "b")
        #expect(try locator.resolve((any Greeter).self, named: "").greeting == "empty")
        #expect(try locator.resolveOptional((any Greeter).self, named: "c") == nil)
    }

    @Test("A service that is registered with a name is found only with that name")
    func nameIsNeeded() throws {
        try locator.register(PoliteGreeter(), as: (any Greeter).self, named: "a")
        #expect(try locator.resolveOptional((any Greeter).self) == nil)
    }

    @Test("Registering twice throws and keeps the first registration")
    func duplicate() throws {
        let first = PoliteGreeter("first")
        try locator.register(first, as: (any Greeter).self)
        let strong = failure { () throws(ServiceLocatorError) in
            try locator.register(PoliteGreeter("second"), as: (any Greeter).self)
        }
        let lazy = failure { () throws(ServiceLocatorError) in
            try locator.registerLazy((any Greeter).self) { _ in PoliteGreeter("third") }
        }
        #expect(strong?.reason == .duplicate)
        #expect(lazy?.reason == .duplicate)
        #expect(try locator.resolve((any Greeter).self) === first)
    }

    @Test("registerIfAbsent registers once and returns whether it did")
    func ifAbsent() throws {
        #expect(try locator.registerIfAbsent(PoliteGreeter("first"), as: (any Greeter).self) != nil)
        #expect(try locator.registerIfAbsent(PoliteGreeter("second"), as: (any Greeter).self) == nil)
        #expect(try locator.resolve((any Greeter).self).greeting == "first")
    }

    @Test("registerIfAbsent checks only its own locator")
    func ifAbsentInChild() throws {
        try locator.register(PoliteGreeter("parent"), as: (any Greeter).self)
        let child = ServiceLocator(name: "child", parent: locator)
        #expect(try child.registerIfAbsent(PoliteGreeter("child"), as: (any Greeter).self) != nil)
        #expect(try child.resolve((any Greeter).self).greeting == "child")
    }

    @Test("replace returns the old service, or nil if there was none")
    func replace() throws {
        let first = PoliteGreeter("first")
        #expect(try locator.replace(first, as: (any Greeter).self) == nil)
        #expect(try locator.replace(PoliteGreeter("second"), as: (any Greeter).self) === first)
        #expect(try locator.resolve((any Greeter).self).greeting == "second")
    }

    @Test("replace overrides a parent's registration without changing it")
    func replaceInChild() throws {
        try locator.register(PoliteGreeter("parent"), as: (any Greeter).self)
        let child = ServiceLocator(name: "child", parent: locator)
        #expect(try child.replace(PoliteGreeter("child"), as: (any Greeter).self) == nil)
        #expect(try child.resolve((any Greeter).self).greeting == "child")
        #expect(try locator.resolve((any Greeter).self).greeting == "parent")
    }

    @Test("unregister makes the service missing, and the type can be registered again")
    func unregister() throws {
        try locator.register(PoliteGreeter("first"), as: (any Greeter).self)
        #expect(locator.unregister((any Greeter).self))
        #expect(!locator.unregister((any Greeter).self))
        #expect(try locator.resolveOptional((any Greeter).self) == nil)
        try locator.register(PoliteGreeter("second"), as: (any Greeter).self)
        #expect(try locator.resolve((any Greeter).self).greeting == "second")
    }

    @Test("unregister with a name removes only the registration with that name")
    func unregisterNamed() throws {
        for name in ["a", "b", "c"] {
            try locator.register(PoliteGreeter(name), as: (any Greeter).self, named: name)
        }
        #expect(locator.unregister((any Greeter).self, named: "b"))
        #expect(try locator.resolve((any Greeter).self, named: "a").greeting == "a")
        #expect(try locator.resolveOptional((any Greeter).self, named: "b") == nil)
        #expect(try locator.resolve((any Greeter).self, named: "c").greeting == "c")
        try locator.register(PoliteGreeter("b2"), as: (any Greeter).self, named: "b")
        #expect(try locator.resolve((any Greeter).self, named: "b").greeting == "b2")
    }

    @Test("All of many registrations are found while the table grows and afterwards")
    func manyRegistrations() throws {
        for index in 0..<1_000 {
            try locator.register(index, as: Int.self, named: "\(index)")
            #expect(try locator.resolve(Int.self, named: "\(index / 2)") == index / 2)
        }
        for index in stride(from: 0, to: 1_000, by: 3) {
            #expect(locator.unregister(Int.self, named: "\(index)"))
        }
        for index in 0..<1_000 {
            #expect(try locator.resolveOptional(Int.self, named: "\(index)") == (index % 3 == 0 ? nil : index))
        }
        for index in 1_000..<3_000 {
            try locator.register(index, as: Int.self, named: "\(index)")
        }
        #expect(try (1_000..<3_000).allSatisfy { try locator.resolve(Int.self, named: "\($0)") == $0 })
    }

    @Test("The registration limit includes replaced and unregistered registrations, and one more throws")
    func limit() throws {
        let small = ServiceLocator(name: "small", registrationLimit: 3)
        try small.register(1, as: Int.self)
        try small.replace(2, as: Int.self)
        small.unregister(Int.self)
        try small.register(3, as: Int.self)
        let refusals = [
            failure { () throws(ServiceLocatorError) in try small.replace(4, as: Int.self) },
            failure { () throws(ServiceLocatorError) in try small.register(4, as: Int.self, named: "x") },
            failure { () throws(ServiceLocatorError) in try small.registerIfAbsent(4, as: Int.self, named: "x") },
            failure { () throws(ServiceLocatorError) in try small.replaceLazy(Int.self) { _ in 4 } },
        ]
        #expect(refusals.map { $0?.reason } == Array(repeating: .tooManyRegistrations, count: 4))
        #expect(try small.resolve(Int.self) == 3)
    }
}
