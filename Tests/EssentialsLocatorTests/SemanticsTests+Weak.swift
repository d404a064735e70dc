import EssentialsLocator
import Testing

extension SemanticsTests {
    /// Registers an object that is released when this returns.
    private func registerGone(
        _ greeting: String = "gone", in locator: ServiceLocator, whenGone fallback: WeakFallback = .parent
    ) throws {
        let greeter = PoliteGreeter(greeting)
        let type = (any Greeter).self
        try locator.registerWeak(greeter, as: type, whenGone: fallback, fileID: "App/Gone.swift", line: 7) { $0 }
        withExtendedLifetime(greeter) {}
    }

    @Test("Every form of resolve skips a released weak service in the same call, at every call")
    func deadWeak() async throws {
        let child = ServiceLocator(name: "child", parent: root)
        try root.register(PoliteGreeter("root"), as: (any Greeter).self)
        do {
            let greeter = PoliteGreeter("child")
            try child.registerWeak(greeter, as: (any Greeter).self) { $0 }
            #expect(try child.resolve((any Greeter).self) === greeter)
        }
        for _ in 0..<3 {
            #expect(try child.resolve((any Greeter).self).greeting == "root")
            #expect(try child.resolveOptional((any Greeter).self)?.greeting == "root")
            #expect(child.require((any Greeter).self).greeting == "root")
            #expect(try await child.resolveAsync((any Greeter).self).greeting == "root")
        }
    }

    @Test("A resolve with arguments skips a released weak service")
    func deadWeakWithArguments() throws {
        let child = ServiceLocator(name: "child", parent: root)
        try root.registerTransient((any Greeter).self) { (_, text: String) in PoliteGreeter(text) }
        try registerGone(in: child)
        #expect(try child.resolve((any Greeter).self, arguments: "new").greeting == "new")
    }

    @Test("A resolve skips released weak services in several locators")
    func deadChain() throws {
        let middle = ServiceLocator(name: "middle", parent: root)
        let child = ServiceLocator(name: "child", parent: middle)
        try registerGone("a", in: child)
        try registerGone("b", in: middle)
        #expect(try child.resolveOptional((any Greeter).self) == nil)
        try root.registerLazy((any Greeter).self) { _ in PoliteGreeter("root") }
        #expect(try child.resolve((any Greeter).self).greeting == "root")
    }

    @Test("A released weak service with the fallback missing hides the parent's service at every call")
    func deadMissing() async throws {
        let child = ServiceLocator(name: "child", parent: root)
        try root.register(PoliteGreeter("root"), as: (any Greeter).self)
        try registerGone(in: child, whenGone: .missing)
        for _ in 0..<3 {
            #expect(try child.resolveOptional((any Greeter).self) == nil)
            let error = failure { () throws(ServiceLocatorError) in try child.resolve((any Greeter).self) }
            #expect(error?.reason == .missing)
        }
        let error = await #expect(throws: ServiceLocatorError.self) {
            try await child.resolveAsync((any Greeter).self)
        }
        #expect(error?.reason == .missing)
        child.unregister((any Greeter).self)
        #expect(try child.resolve((any Greeter).self).greeting == "root")
    }

    @Test("The error of a released weak service with the fallback missing names that service, not the parent's")
    func deadMissingError() throws {
        let child = ServiceLocator(name: "child", parent: root)
        try root.register(PoliteGreeter("root"), as: (any Greeter).self, fileID: "App/Root.swift", line: 3)
        try registerGone(in: child, whenGone: .missing)
        let error = failure { () throws(ServiceLocatorError) in try child.resolve((any Greeter).self) }
        #expect(error?.searched == ["child"])
        #expect(error?.nearMisses.filter { $0.contains("is gone") }.count == 1)
        #expect(error?.message.contains("App/Root.swift:3), whose object is gone") == false)
    }

    @Test("Resolving a released weak service does not change the locator")
    func readsDoNotWrite() throws {
        let child = ServiceLocator(name: "child", parent: root)
        try registerGone(in: child)
        let before = child.graph()
        for _ in 0..<3 { #expect(try child.resolveOptional((any Greeter).self) == nil) }
        #expect(child.graph() == before)
        #expect(before.locators.first?.registrations.map(\.state) == [.gone])
    }

    @Test("Many threads that find released weak services in a child and its parent all get the grandparent's service")
    func deadUnderThreads() throws {
        let middle = ServiceLocator(name: "middle", parent: root)
        let child = ServiceLocator(name: "child", parent: middle)
        try root.register(PoliteGreeter("root"), as: (any Greeter).self)
        for locator in [middle, child] { try registerGone(in: locator) }
        let wrong = Counter()
        Workers.run(4) { _ in
            for _ in 0..<500 where (try? child.resolve((any Greeter).self).greeting) != "root" { wrong.increment() }
        }
        #expect(wrong.value == 0)
    }

    @Test("A resolve calls the conversion of a weak service once")
    func convertedOnce() throws {
        let loads = Counter()
        let greeter = PoliteGreeter()
        try root.registerWeak(greeter, as: (any Greeter).self) {
            loads.increment()
            return $0
        }
        #expect(try root.resolve((any Greeter).self) === greeter)
        #expect(loads.value == 1)
        #expect(try root.resolveOptional((any Greeter).self) === greeter)
        #expect(loads.value == 2)
    }

    @Test("Threads find a weak service that is being released, or the parent's service")
    func diesMeanwhile() throws {
        let child = ServiceLocator(name: "child", parent: root)
        try root.register(PoliteGreeter("root"), as: (any Greeter).self)
        let wrong = Counter()
        Workers.run(4) { index in
            for _ in 0..<500 {
                if index == 0 {
                    // Released at the end of the round, and the next one uses its key.
                    let greeter = PoliteGreeter("child")
                    if (try? child.registerWeak(greeter, as: (any Greeter).self, conversion: { $0 })) == nil {
                        child.unregister((any Greeter).self)
                    }
                } else {
                    let greeting = try? child.resolve((any Greeter).self).greeting
                    if greeting != "root" && greeting != "child" { wrong.increment() }
                }
            }
        }
        #expect(wrong.value == 0)
    }

    @Test(
        "Every form of register accepts the key of a released weak service",
        arguments: ["register", "registerLazy", "registerIfAbsent", "registerWeak", "several types"])
    func overDeadWeak(way: String) throws {
        try registerGone(in: root)
        let object = GreetingClock()
        switch way {
        case "register": try root.register(object, as: (any Greeter).self)
        case "registerLazy": try root.registerLazy((any Greeter).self) { _ in object }
        case "registerIfAbsent": #expect(try root.registerIfAbsent(object, as: (any Greeter).self) != nil)
        case "registerWeak": try root.registerWeak(object, as: (any Greeter).self) { $0 }
        default: try root.register(object, as: (any Clock).self, (any Greeter).self)
        }
        #expect(try root.resolve((any Greeter).self) === object)
        #expect(root.graph().locators.first?.registrations.filter { $0.type == greeterType }.count == 1)
    }

    @Test("Registering the key of a living weak service is a duplicate")
    func overLivingWeak() throws {
        let greeter = PoliteGreeter("weak")
        try root.registerWeak(greeter, as: (any Greeter).self) { $0 }
        let error = failure { () throws(ServiceLocatorError) in
            try root.register(PoliteGreeter(), as: (any Greeter).self)
        }
        #expect(error?.reason == .duplicate)
        #expect(try root.registerIfAbsent(PoliteGreeter(), as: (any Greeter).self) == nil)
        #expect(try root.resolve((any Greeter).self) === greeter)
        try root.replace(PoliteGreeter("new"), as: (any Greeter).self)
        #expect(try root.resolve((any Greeter).self).greeting == "new")
        withExtendedLifetime(greeter) {}
    }

    @Test("A child's weak registration of the parent's strong service lives as long as the parent")
    func strongInParent() throws {
        let child = ServiceLocator(name: "child", parent: root)
        do {
            let greeter = PoliteGreeter("shared")
            try root.register(greeter, as: (any Greeter).self)
            try child.registerWeak(greeter, as: (any Greeter).self, named: "mine") { $0 }
        }
        #expect(try child.resolve((any Greeter).self, named: "mine") === root.resolve((any Greeter).self))
    }

    @Test("A parent's weak registration of a child's strong service lives as long as the child")
    func strongInChild() throws {
        do {
            let child = ServiceLocator(name: "child", parent: root)
            let greeter = PoliteGreeter("shared")
            try child.register(greeter, as: (any Greeter).self)
            try root.registerWeak(greeter, as: (any Greeter).self) { $0 }
            #expect(try child.resolve((any Greeter).self) === root.resolve((any Greeter).self))
        }
        #expect(try root.resolveOptional((any Greeter).self) == nil)
        #expect(failure { () throws(ServiceLocatorError) in try root.resolve((any Greeter).self) }?.reason == .missing)
    }

    @Test("The error of a missing service names the line that registered a temporary weakly")
    func temporary() throws {
        try root.registerWeak(PoliteGreeter(), as: (any Greeter).self, fileID: "App/Cart.swift", line: 7) { $0 }
        let error = failure { () throws(ServiceLocatorError) in try root.resolve((any Greeter).self) }
        #expect(
            error?.nearMisses == [
                "\(greeterType) in \"root\" (App/Cart.swift:7), whose object is gone: it was registered weakly"
            ])
    }

    @Test("validate reports a released weak service")
    func validateGone() async throws {
        try registerGone(in: root)
        let failures = await root.validate()
        #expect(failures.map(\.reason) == [.serviceGone])
        #expect(failures.first?.message.contains("App/Gone.swift:7") == true)
    }
}
