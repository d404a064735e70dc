import Testing

@testable import EssentialsLocator

/// Two types that are spelled alike, as one is that is linked into a process twice. Boxes say themselves how they are spelled.
private struct FirstLinked: MainActorBoxing, Sendable {
    static let boxedTypeName = "Shop.Cart"
    var boxed: Any { self }
}

private struct SecondLinked: MainActorBoxing, Sendable {
    static let boxedTypeName = "Shop.Cart"
    var boxed: Any { self }
}

@Suite("ServiceLocatorError")
struct ServiceLocatorErrorTests {
    let root = ServiceLocator(name: "app")
    let greeterType = String(reflecting: (any Greeter).self)

    @Test("A missing service names the type, the locators searched, and what to try")
    func missing() throws {
        let child = ServiceLocator(name: "checkout", parent: root)
        let error = failure { () throws(ServiceLocatorError) in try child.resolve((any Greeter).self) }
        #expect(error?.reason == .missing)
        #expect(error?.serviceType == greeterType)
        #expect(error?.serviceName == nil)
        #expect(error?.searched == ["checkout", "app"])
        #expect(error?.nearMisses == [])
        #expect(
            error?.description == "missing: No \(greeterType) is registered; searched \"checkout\", then \"app\". "
                + "Register it in one of them before it is asked for, or use resolveOptional if it may be absent.")
    }

    @Test("A missing service lists the same type under other names, and services that are of the type too")
    func nearMisses() throws {
        let child = ServiceLocator(name: "checkout", parent: root)
        try root.register(PoliteGreeter(), as: (any Greeter).self, named: "polite")
        try root.registerLazy((any Mailer).self) { _ in GreetingMailer(greeter: PoliteGreeter()) }
        try child.register(GreetingClock(), as: (any Clock).self)
        let error = failure { () throws(ServiceLocatorError) in try child.resolve((any Greeter).self, named: "x") }
        let misses = error?.nearMisses ?? []
        #expect(error?.serviceName == "x")
        #expect(misses.count == 2)
        #expect(misses.first?.contains("Clock in \"checkout\" (EssentialsLocatorTests/") == true)
        #expect(misses.first?.hasSuffix("whose service is also \(greeterType)") == true)
        #expect(misses.last?.hasPrefix("\(greeterType) named \"polite\" in \"app\"") == true)
        #expect(error?.description.contains("It comes close to: ") == true)
        #expect(error?.remedy.hasPrefix("Ask for one of these") == true)
    }

    @Test("Near misses list the registration without a name, but none that was removed, and build nothing")
    func nearMissesAreLive() throws {
        let builds = Counter()
        try root.register(PoliteGreeter(), as: (any Greeter).self, named: "gone")
        root.unregister((any Greeter).self, named: "gone")
        try root.registerLazy((any Greeter).self) { _ in
            builds.increment()
            return PoliteGreeter()
        }
        let error = failure { () throws(ServiceLocatorError) in try root.resolve((any Greeter).self, named: "x") }
        #expect(error?.nearMisses.count == 1)
        #expect(error?.nearMisses.first?.hasPrefix("\(greeterType) in \"app\"") == true)
        #expect(builds.value == 0)
    }

    // Row 20
    @Test("A type that is linked twice is two types, and the error of the one that is missing says so")
    func linkedTwice() throws {
        try root.register(FirstLinked(), as: FirstLinked.self, fileID: "Shop/Cart.swift", line: 5)
        let error = failure { () throws(ServiceLocatorError) in try root.resolve(SecondLinked.self) }
        let label = try #require(error?.serviceType)
        #expect(error?.reason == .missing)
        #expect(label.hasPrefix("Shop.Cart"))
        #expect(
            error?.nearMisses == [
                "\(label) in \"app\" (Shop/Cart.swift:5), which is another type of the same name: "
                    + "its module is linked twice"
            ])
        #expect(throws: Never.self) { try root.resolve(FirstLinked.self) }
    }

    @Test("The list of near misses is cut, and the text says by how much")
    func nearMissesAreLimited() throws {
        for index in 0..<20 { try root.register(index, as: Int.self, named: "\(index)") }
        let error = failure { () throws(ServiceLocatorError) in try root.resolve(Int.self) }
        #expect(error?.nearMisses.count == 8)
        #expect(error?.message.hasSuffix("; and 12 more.") == true)
    }

    @Test("A duplicate names both places in the source")
    func duplicate() throws {
        try root.register(1, as: Int.self, named: "n", fileID: "App/First.swift", line: 3)
        let error = failure { () throws(ServiceLocatorError) in
            try root.register(2, as: Int.self, named: "n", fileID: "App/Second.swift", line: 9)
        }
        #expect(
            error?.message == "Swift.Int named \"n\" cannot be registered in \"app\" at App/Second.swift:9: "
                + "it was at App/First.swift:3.")
        #expect(error?.remedy.contains("replace") == true)
    }

    @Test("A failed construction names the registration and holds the factory's error")
    func constructionFailed() throws {
        try root.registerLazy(Int.self, fileID: "App/First.swift", line: 3) { _ in throw FactoryFailure("no disk") }
        let error = failure { () throws(ServiceLocatorError) in try root.resolve(Int.self) }
        #expect(error?.reason == .constructionFailed)
        #expect(
            error?.message == "The factory of Swift.Int in \"app\", registered at App/First.swift:3, failed: no disk")
    }

    @Test("A full locator names its limit")
    func tooMany() throws {
        let none = ServiceLocator(name: "none", registrationLimit: 0)
        let error = failure { () throws(ServiceLocatorError) in try none.register(1, as: Int.self) }
        #expect(error?.message.contains("its limit of 0 registrations") == true)
    }

    @Test("Every reason has a stable name and a remedy", arguments: ServiceLocatorError.Reason.all)
    func reasons(reason: ServiceLocatorError.Reason) {
        let names = [
            "missing", "duplicate", "cycle", "constructionFailed", "tooManyRegistrations", "closed", "asynchronous",
            "argumentMismatch", "notConforming", "serviceGone", "locatorGone", "cancelled",
        ]
        #expect(names.contains(reason.name))
        #expect(reason.remedy.hasSuffix("."))
        #expect("\(reason)" == reason.name)
    }

    @Test("require ends the process with the text that resolve throws, and says where it was asked")
    func require() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent],
            performing: {
                _ = ServiceLocator(name: "app").require((any Greeter).self, fileID: "App/Main.swift", line: 5)
            })
        let error = failure { () throws(ServiceLocatorError) in try root.resolve((any Greeter).self) }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("\(error?.description ?? "?") Required at App/Main.swift:5."))
    }
}
