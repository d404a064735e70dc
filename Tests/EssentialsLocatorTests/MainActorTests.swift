import EssentialsLocator
import Testing

@MainActor
private final class StatusLine: StatusDisplay {
    var text = "ready"
}

/// Not `Sendable`: only the main actor uses conforming types.
private protocol StatusDisplay: AnyObject {
    @MainActor var text: String { get set }
}

/// Not `Sendable`, and not isolated to an actor.
private final class Scratch {
    var marks: [Int] = []
    let onDeath: (() -> Void)?
    init(onDeath: (() -> Void)? = nil) { self.onDeath = onDeath }
    deinit { onDeath?() }
}

@Suite("Services of the main actor")
@MainActor
struct MainActorTests {
    let root = ServiceLocator(name: "root")

    @Test("A service that is not Sendable is registered and resolved as the same object")
    func notSendable() throws {
        let scratch = Scratch()
        try root.registerOnMainActor(scratch, as: Scratch.self)
        try root.registerOnMainActor(StatusLine(), as: (any StatusDisplay).self, named: "status")
        try root.resolveOnMainActor(Scratch.self).marks.append(1)
        #expect(try root.resolveOnMainActor(Scratch.self) === scratch)
        #expect(scratch.marks == [1])
        #expect(try root.resolveOnMainActor((any StatusDisplay).self, named: "status").text == "ready")
    }

    @Test("A lazy service for the main actor is built once, on the main actor, by a factory that receives the owner")
    func lazy() throws {
        let display = StatusLine()
        var owners: [String] = []
        try root.registerLazyOnMainActor(Scratch.self) { locator in
            MainActor.preconditionIsolated()
            display.text = "built"
            owners.append(locator.name)
            return Scratch()
        }
        #expect(display.text == "ready")
        let child = ServiceLocator(name: "child", parent: root)
        let first = try child.resolveOnMainActor(Scratch.self)
        #expect(try root.resolveOnMainActor(Scratch.self) === first)
        #expect(try root.resolveOptionalOnMainActor(Scratch.self) === first)
        #expect(display.text == "built")
        #expect(owners == ["root"])
    }

    @Test("The same type for all threads and for the main actor are two registrations")
    func separateKeys() throws {
        try root.register(PoliteGreeter("all"), as: (any Greeter).self)
        #expect(try root.resolveOptionalOnMainActor((any Greeter).self) == nil)
        try root.registerOnMainActor(PoliteGreeter("main"), as: (any Greeter).self)
        #expect(try root.resolve((any Greeter).self).greeting == "all")
        #expect(try root.resolveOnMainActor((any Greeter).self).greeting == "main")
        #expect(root.unregister((any Greeter).self))
        #expect(try root.resolveOptional((any Greeter).self) == nil)
        #expect(try root.resolveOnMainActor((any Greeter).self).greeting == "main")
        #expect(root.unregisterOnMainActor((any Greeter).self))
        #expect(!root.unregisterOnMainActor((any Greeter).self))
        #expect(try root.resolveOptionalOnMainActor((any Greeter).self) == nil)
    }

    @Test("A child's registration for the main actor overrides the parent's")
    func hierarchy() throws {
        let child = ServiceLocator(name: "child", parent: root)
        let inherited = Scratch()
        let own = Scratch()
        try root.registerOnMainActor(inherited, as: Scratch.self)
        #expect(try child.resolveOnMainActor(Scratch.self) === inherited)
        let registration = try child.registerOnMainActor(own, as: Scratch.self)
        #expect(try child.resolveOnMainActor(Scratch.self) === own)
        #expect(child.unregister(registration))
        #expect(try child.resolveOnMainActor(Scratch.self) === inherited)
    }

    @Test("The error of a duplicate for the main actor mentions the main actor")
    func duplicate() throws {
        try root.registerOnMainActor(Scratch(), as: Scratch.self, fileID: "App/First.swift", line: 1)
        let error = failure { () throws(ServiceLocatorError) in
            try root.registerLazyOnMainActor(Scratch.self, fileID: "App/Second.swift", line: 2) { _ in Scratch() }
        }
        #expect(error?.reason == .duplicate)
        #expect(
            error?.message == "\(String(reflecting: Scratch.self)) (main actor) cannot be registered in \"root\" at "
                + "App/Second.swift:2, because it was already registered at App/First.swift:1.")
    }

    @Test("A factory for the main actor that throws is kept and runs again")
    func retry() throws {
        var attempts = 0
        try root.registerLazyOnMainActor(Scratch.self) { _ in
            attempts += 1
            if attempts == 1 { throw FactoryFailure() }
            return Scratch()
        }
        let error = failure { () throws(ServiceLocatorError) in try root.resolveOnMainActor(Scratch.self) }
        #expect(error?.reason == .constructionFailed)
        #expect(error?.underlying is FactoryFailure)
        _ = try root.resolveOnMainActor(Scratch.self)
        #expect(attempts == 2)
    }

    @Test("A cycle through services of the main actor and of all threads is an error with its path")
    func cycle() throws {
        try root.registerLazyOnMainActor(Scratch.self, named: "a") { locator in
            try locator.resolveOnMainActor(Scratch.self, named: "b")
        }
        try root.registerLazyOnMainActor(Scratch.self, named: "b") { locator in
            try locator.resolveOnMainActor(Scratch.self, named: "a")
        }
        let error = failure { () throws(ServiceLocatorError) in try root.resolveOnMainActor(Scratch.self, named: "a") }
        let type = String(reflecting: Scratch.self)
        #expect(error?.reason == .cycle)
        #expect(error?.path == ["a", "b", "a"].map { "\(type) (main actor) named \"\($0)\" in \"root\"" })
    }

    @Test("A service of the main actor is built from services of all threads")
    func dependsOnOthers() throws {
        try root.registerLazy((any Greeter).self) { _ in PoliteGreeter("built") }
        try root.registerLazyOnMainActor((any StatusDisplay).self) { locator in
            let line = StatusLine()
            line.text = try locator.resolve((any Greeter).self).greeting
            return line
        }
        #expect(try root.resolveOnMainActor((any StatusDisplay).self).text == "built")
    }

    @Test("The error of a missing service suggests resolveOnMainActor for a service of the main actor")
    func nearMiss() throws {
        let type = String(reflecting: (any Greeter).self)
        try root.registerOnMainActor(PoliteGreeter(), as: (any Greeter).self, fileID: "App/Main.swift", line: 9)
        let error = failure { () throws(ServiceLocatorError) in try root.resolve((any Greeter).self) }
        #expect(error?.reason == .missing)
        #expect(error?.nearMisses == ["\(type) (main actor) in \"root\" (App/Main.swift:9): use resolveOnMainActor"])
    }

    @Test("The error of a missing service of the main actor suggests resolve for a service of all threads")
    func nearMissOfOthers() throws {
        let type = String(reflecting: (any Greeter).self)
        try root.register(PoliteGreeter(), as: (any Greeter).self, fileID: "App/Main.swift", line: 9)
        let error = failure { () throws(ServiceLocatorError) in try root.resolveOnMainActor((any Greeter).self) }
        #expect(error?.reason == .missing)
        #expect(error?.nearMisses == ["\(type) in \"root\" (App/Main.swift:9): use resolve"])
    }

    @Test("The error of a missing service of the main actor names the type, the main actor and other names")
    func missing() throws {
        let type = "\(String(reflecting: Scratch.self)) (main actor)"
        try root.registerOnMainActor(Scratch(), as: Scratch.self, named: "x", fileID: "App/Main.swift", line: 9)
        let error = failure { () throws(ServiceLocatorError) in try root.resolveOnMainActor(Scratch.self) }
        #expect(error?.reason == .missing)
        #expect(error?.serviceType == type)
        #expect(error?.message.hasPrefix("No \(type) is registered; searched \"root\".") == true)
        #expect(error?.nearMisses == ["\(type) named \"x\" in \"root\" (App/Main.swift:9)"])
    }

    @Test("validate builds services of the main actor on it, wherever it is called, and reports their failures")
    func validate() async throws {
        let locator = root
        let builds = Counter()
        try locator.registerLazyOnMainActor(Scratch.self) { _ in
            MainActor.preconditionIsolated()
            builds.increment()
            return Scratch()
        }
        try locator.registerOnMainActor(Scratch(), as: Scratch.self, named: "strong")
        try locator.registerLazyOnMainActor(Scratch.self, named: "failing") { _ in throw FactoryFailure() }
        let failures = await Task.detached { await locator.validate() }.value
        #expect(failures.map(\.reason) == [.constructionFailed])
        #expect(failures.first?.serviceName == "failing")
        #expect(builds.value == 1)
        _ = try locator.resolveOnMainActor(Scratch.self)
        #expect(builds.value == 1)
    }

    @Test("A service of the main actor is released with its locator")
    func released() throws {
        let deaths = Counter()
        var scope: ServiceLocator? = ServiceLocator(name: "scope")
        try scope?.registerOnMainActor(Scratch { deaths.increment() }, as: Scratch.self)
        try scope?.registerLazyOnMainActor(Scratch.self, named: "lazy") { _ in Scratch { deaths.increment() } }
        _ = try scope?.resolveOnMainActor(Scratch.self, named: "lazy")
        #expect(deaths.value == 0)
        scope = nil
        #expect(deaths.value == 2)
    }
}
