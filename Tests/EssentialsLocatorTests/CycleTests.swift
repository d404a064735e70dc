import EssentialsLocator
import Testing

@Suite("Cycles on one thread")
struct CycleTests {
    let locator = ServiceLocator(name: "app")

    @Test("A factory that resolves its own service gets a cycle with its path")
    func selfCycle() throws {
        try locator.registerLazy((any Greeter).self) { locator in try locator.resolve((any Greeter).self) }
        let error = failure { () throws(ServiceLocatorError) in try locator.resolve((any Greeter).self) }
        let label = "\(String(reflecting: (any Greeter).self)) in \"app\""
        #expect(error?.reason == .cycle)
        #expect(error?.path == [label, label])
    }

    @Test("A cycle through several services names them in order, without those that only lead to it")
    func longCycle() throws {
        for (from, to) in [("start", "a"), ("a", "b"), ("b", "c"), ("c", "a")] {
            try locator.registerLazy(Int.self, named: from) { locator in try locator.resolve(Int.self, named: to) }
        }
        let error = failure { () throws(ServiceLocatorError) in try locator.resolve(Int.self, named: "start") }
        #expect(error?.reason == .cycle)
        #expect(error?.path == ["a", "b", "c", "a"].map { "Swift.Int named \"\($0)\" in \"app\"" })
        #expect(error?.description.contains("named \"a\" in \"app\" -> Swift.Int named \"b\"") == true)
    }

    @Test("A cycle through a child and its parent is detected")
    func acrossLocators() throws {
        let child = ServiceLocator(name: "child", parent: locator)
        try locator.registerLazy(Int.self, named: "up") { [weak child] _ in
            try child?.resolve(Int.self, named: "down") ?? 0
        }
        try child.registerLazy(Int.self, named: "down") { locator in try locator.resolve(Int.self, named: "up") }
        let error = failure { () throws(ServiceLocatorError) in try child.resolve(Int.self, named: "down") }
        #expect(
            error?.path == [
                "Swift.Int named \"down\" in \"child\"", "Swift.Int named \"up\" in \"app\"",
                "Swift.Int named \"down\" in \"child\"",
            ])
    }

    @Test("resolveOptional throws on a cycle")
    func optional() throws {
        try locator.registerLazy(Int.self) { locator in try locator.resolveOptional(Int.self) ?? 0 }
        let error = failure { () throws(ServiceLocatorError) in try locator.resolveOptional(Int.self) }
        #expect(error?.reason == .cycle)
    }

    @Test("A factory that catches the cycle can still build, and later resolves find the service")
    func recovered() throws {
        try locator.registerLazy(Int.self) { locator in
            do { return try locator.resolve(Int.self) } catch { return 7 }
        }
        #expect(try locator.resolve(Int.self) == 7)
        #expect(try locator.resolve(Int.self) == 7)
    }

    @Test("The services of a cycle can be built after it was fixed")
    func corrected() throws {
        try locator.registerLazy(Int.self, named: "a") { locator in try locator.resolve(Int.self, named: "b") }
        try locator.registerLazy(Int.self, named: "b") { locator in try locator.resolve(Int.self, named: "a") }
        #expect(failure { () throws(ServiceLocatorError) in try locator.resolve(Int.self, named: "a") } != nil)
        try locator.replace(3, as: Int.self, named: "b")
        #expect(try locator.resolve(Int.self, named: "a") == 3)
    }
}
