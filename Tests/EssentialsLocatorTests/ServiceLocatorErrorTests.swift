import Testing

@testable import EssentialsLocator

/// Two types with the same spelling, like a type that is linked into a process twice. Boxes define their own spelling.
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

    @Test("The error of a missing service names the type, the searched locators and a remedy")
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
                + "Register it in one of them before it is resolved, or use resolveOptional if it may be missing.")
    }

    @Test("The error of a missing service lists the same type with other names and services that also have the type")
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
        #expect(error?.description.contains("These are similar: ") == true)
        #expect(error?.remedy?.hasPrefix("Resolve one of these") == true)
    }

    @Test("Near misses include the registration without a name, exclude removed ones, and build nothing")
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

    @Test("The error of a missing service mentions a type of the same name that is linked twice")
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

    @Test("The list of near misses has a limit, and the text states how many are left out")
    func nearMissesAreLimited() throws {
        for index in 0..<20 { try root.register(index, as: Int.self, named: "\(index)") }
        let error = failure { () throws(ServiceLocatorError) in try root.resolve(Int.self) }
        #expect(error?.nearMisses.count == 8)
        #expect(error?.message.hasSuffix("; and 12 more.") == true)
    }

    @Test("The error of a duplicate names both source lines")
    func duplicate() throws {
        try root.register(1, as: Int.self, named: "n", fileID: "App/First.swift", line: 3)
        let error = failure { () throws(ServiceLocatorError) in
            try root.register(2, as: Int.self, named: "n", fileID: "App/Second.swift", line: 9)
        }
        #expect(
            error?.message == "Swift.Int named \"n\" cannot be registered in \"app\" at App/Second.swift:9, "
                + "because it was already registered at App/First.swift:3.")
        #expect(error?.remedy?.contains("replace") == true)
    }

    @Test("The error of a failed construction names the registration and contains the factory's error")
    func constructionFailed() throws {
        try root.registerLazy(Int.self, fileID: "App/First.swift", line: 3) { _ in throw FactoryFailure("no disk") }
        let error = failure { () throws(ServiceLocatorError) in try root.resolve(Int.self) }
        #expect(error?.reason == .constructionFailed)
        #expect(
            error?.message == "The factory of Swift.Int in \"app\", registered at App/First.swift:3, failed: no disk.")
    }

    /// A service that needs another one, for the path of a failed construction.
    private struct Level<Inner>: Sendable {}

    @Test("The failure of nested factories has one path and one cause, and contains the error of each factory")
    func nested() throws {
        let child = ServiceLocator(name: "child", parent: root)
        try root.registerLazy(Int.self, fileID: "App/Disk.swift", line: 3) { _ in throw FactoryFailure("no disk") }
        try root.registerLazy(Level<Int>.self) { locator in
            _ = try locator.resolve(Int.self)
            return Level()
        }
        try root.registerTransient(String.self) { (locator, _: Int) in
            _ = try locator.resolve(Level<Int>.self)
            return ""
        }
        try child.registerTransient(Double.self) { locator in
            Double(try locator.resolve(String.self, arguments: 1)) ?? 0
        }
        let error = failure { () throws(ServiceLocatorError) in try child.resolve(Double.self) }
        let level = String(reflecting: Level<Int>.self)
        let path = [
            "Swift.Double in \"child\"", "Swift.String in \"app\"", "\(level) in \"app\"", "Swift.Int in \"app\"",
        ]
        #expect(error?.path == path)
        #expect(
            error?.description == "constructionFailed: The factory of Swift.Int in \"app\", registered at "
                + "App/Disk.swift:3, failed: no disk. It was needed by \(path.joined(separator: " -> ")). "
                + "Correct the cause and resolve again; the factory is kept and runs again.")
        #expect(error?.serviceType == "Swift.Double")
        var causes: [String] = []
        var next: (any Error)? = error
        while let inner = next as? ServiceLocatorError {
            causes.append(inner.serviceType)
            next = inner.underlying
        }
        #expect(causes == ["Swift.Double", "Swift.String", level, "Swift.Int"])
        #expect(next is FactoryFailure)
    }

    @Test("The root cause is the error of the innermost factory, however many factories passed it on")
    func rootCause() throws {
        let cause = FactoryFailure("no disk")
        try root.registerLazy(Int.self) { _ in throw cause }
        try root.registerLazy(Level<Int>.self) { locator in
            _ = try locator.resolve(Int.self)
            return Level()
        }
        try root.registerLazy(Level<Level<Int>>.self) { locator in
            _ = try locator.resolve(Level<Int>.self)
            return Level()
        }
        let one = failure { () throws(ServiceLocatorError) in try root.resolve(Int.self) }
        let two = failure { () throws(ServiceLocatorError) in try root.resolve(Level<Int>.self) }
        let three = failure { () throws(ServiceLocatorError) in try root.resolve(Level<Level<Int>>.self) }
        for error in [one, two, three] { #expect(error?.rootCause is FactoryFailure) }
        #expect(one?.underlying is FactoryFailure)
        #expect(three?.underlying is ServiceLocatorError)
    }

    @Test("A missing service has no root cause, and is the root cause of the factory that needs it")
    func noRootCause() throws {
        let missing = failure { () throws(ServiceLocatorError) in try root.resolve(Int.self) }
        #expect(missing?.reason == .missing)
        #expect(missing?.underlying == nil)
        #expect(missing?.rootCause == nil)
        try root.registerLazy(String.self) { locator in "\(try locator.resolve(Int.self))" }
        let outer = failure { () throws(ServiceLocatorError) in try root.resolve(String.self) }
        #expect((outer?.rootCause as? ServiceLocatorError)?.reason == .missing)
    }

    @Test("The failure of an asynchronous factory says once which missing service to register")
    func nestedMissing() async throws {
        try root.registerAsync(Int.self, fileID: "App/Disk.swift", line: 3) { locator in
            try locator.resolve(Double.self).hashValue
        }
        try root.registerAsync(String.self) { locator in "\(try await locator.resolveAsync(Int.self))" }
        let error = await thrownLater { try await root.resolveAsync(String.self) }
        #expect(
            error?.description == "constructionFailed: The factory of Swift.Int in \"app\", registered at "
                + "App/Disk.swift:3, failed: No Swift.Double is registered; searched \"app\". It was needed by "
                + "Swift.String in \"app\" -> Swift.Int in \"app\". Register it in one of them before it is resolved, "
                + "or use resolveOptional if it may be missing.")
    }

    @Test("A long path is shown with its beginning and its end")
    func longPath() throws {
        try root.registerTransient(Int.self) { (locator, depth: Int) in
            guard depth < 20 else { throw FactoryFailure("too deep") }
            return try locator.resolve(Int.self, arguments: depth + 1)
        }
        let error = failure { () throws(ServiceLocatorError) in try root.resolve(Int.self, arguments: 1) }
        let label = "Swift.Int in \"app\""
        #expect(error?.path == Array(repeating: label, count: 20))
        let shown = Array(repeating: label, count: 4) + ["12 more"] + Array(repeating: label, count: 4)
        #expect(error?.message.hasSuffix("It was needed by \(shown.joined(separator: " -> ")).") == true)
    }

    @Test("The error of too many registrations names the limit")
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
        #expect(reason == .cancelled ? reason.remedy == nil : reason.remedy?.hasSuffix(".") == true)
        #expect("\(reason)" == reason.name)
    }

    @Test("require ends the process with the text of the error and the line of the call")
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
