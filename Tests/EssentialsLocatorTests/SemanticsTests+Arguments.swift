import EssentialsLocator
import Testing

extension SemanticsTests {
    /// A node with its children.
    private final class Tree: Sendable {
        let children: [Tree]
        init(_ children: [Tree]) { self.children = children }
        var count: Int { 1 + children.reduce(0) { $0 + $1.count } }
    }

    @Test("A transient factory takes one to four arguments of any type, including types that are not Sendable")
    func arguments() throws {
        final class Box { var text = "box" }
        try root.registerTransient(String.self, named: "1") { (_, a: Int) in "\(a)" }
        try root.registerTransient(String.self, named: "2") { (_, a: Int, b: String) in "\(a) \(b)" }
        try root.registerTransient(String.self, named: "3") { (_, a: Int, b: String, c: [Int]) in "\(a) \(b) \(c)" }
        try root.registerTransient(String.self, named: "4") { (locator, a: Int, b: String, c: [Int], d: Box) in
            "\(a) \(b) \(c) \(d.text) \(locator.name)"
        }
        #expect(try root.resolve(String.self, named: "1", arguments: 1) == "1")
        #expect(try root.resolve(String.self, named: "2", arguments: 1, "b") == "1 b")
        #expect(try root.resolve(String.self, named: "3", arguments: 1, "b", [2]) == "1 b [2]")
        #expect(try root.resolve(String.self, named: "4", arguments: 1, "b", [2], Box()) == "1 b [2] box root")
    }

    @Test("Each resolve with arguments builds a new service, which the locator does not retain")
    func argumentsBuildAnew() throws {
        let deaths = Recorder<String>()
        try root.registerTransient((any Greeter).self) { (_, text: String) in Mortal(text) { deaths.append($0) } }
        #expect(try root.resolve((any Greeter).self, arguments: "a").greeting == "a")
        #expect(try root.resolve((any Greeter).self, arguments: "b").greeting == "b")
        #expect(deaths.all == ["a", "b"])
    }

    @Test("Arguments of other types are an error with the types that the factory takes and those that were passed")
    func mismatch() throws {
        try root.registerTransient(String.self, fileID: "App/Main.swift", line: 8) { (_, a: Int, b: String) in
            "\(a) \(b)"
        }
        let child = ServiceLocator(name: "child", parent: root)
        let takes =
            "Swift.String in \"root\", registered at App/Main.swift:8, takes arguments of these types: "
            + "Swift.Int, Swift.String. The resolve passed: "
        let cases: [(ServiceLocatorError?, String)] = [
            (failure { () throws(ServiceLocatorError) in try child.resolve(String.self) }, "none."),
            (failure { () throws(ServiceLocatorError) in try child.resolveOptional(String.self) }, "none."),
            (failure { () throws(ServiceLocatorError) in try child.resolve(String.self, arguments: 1) }, "Swift.Int."),
            (
                failure { () throws(ServiceLocatorError) in try child.resolve(String.self, arguments: "a", 1) },
                "Swift.String, Swift.Int."
            ),
            (
                failure { () throws(ServiceLocatorError) in try child.resolve(String.self, arguments: 1, "a", 2.5) },
                "Swift.Int, Swift.String, Swift.Double."
            ),
        ]
        for (error, given) in cases {
            #expect(error?.reason == .argumentMismatch)
            #expect(error?.message == takes + given)
        }
    }

    @Test("An argument of a protocol type must be passed as that type, not as the object's class")
    func existentialArgument() throws {
        try root.registerTransient((any Mailer).self) { (_, greeter: any Greeter) in GreetingMailer(greeter: greeter) }
        let greeter = PoliteGreeter()
        let mailer = try root.resolve((any Mailer).self, arguments: greeter as any Greeter)
        #expect(mailer.greeter === greeter)
        let error = failure { () throws(ServiceLocatorError) in
            try root.resolve((any Mailer).self, arguments: greeter)
        }
        #expect(error?.reason == .argumentMismatch)
        #expect(error?.message.hasSuffix("The resolve passed: \(String(reflecting: PoliteGreeter.self)).") == true)
    }

    @Test("Arguments for a registration without arguments are an error for every kind")
    func argumentsForNone() throws {
        let object = PoliteGreeter()
        try root.register(object, as: (any Greeter).self, named: "strong")
        try root.registerLazy((any Greeter).self, named: "lazy") { _ in object }
        try root.registerTransient((any Greeter).self, named: "transient") { _ in object }
        try root.registerWeak(object, as: (any Greeter).self, named: "weak") { $0 }
        try root.registerAsync((any Greeter).self, named: "async") { _ in object }
        for name in ["strong", "lazy", "transient", "weak", "async"] {
            let error = failure { () throws(ServiceLocatorError) in
                try root.resolve((any Greeter).self, named: name, arguments: 1)
            }
            #expect(error?.reason == .argumentMismatch)
            #expect(error?.message.hasSuffix("of these types: none. The resolve passed: Swift.Int.") == true)
        }
        withExtendedLifetime(object) {}
    }

    @Test("A resolve with arguments throws the errors of missing services and failing factories")
    func argumentErrors() throws {
        let missing = failure { () throws(ServiceLocatorError) in try root.resolve(Int.self, arguments: 1) }
        #expect(missing?.reason == .missing)
        try root.registerTransient(Int.self) { (_, text: String) in throw FactoryFailure(text) }
        let failed = failure { () throws(ServiceLocatorError) in try root.resolve(Int.self, arguments: "no disk") }
        #expect(failed?.reason == .constructionFailed)
        #expect(failed?.message.hasSuffix("failed: no disk.") == true)
    }

    @Test(
        "A resolve with arguments in a closed locator throws closed for every registration", arguments: [true, false])
    func argumentsInClosed(takesArguments: Bool) async throws {
        let locator = ServiceLocator(name: "scope")
        if takesArguments {
            try locator.registerTransient(Int.self) { (_, number: Int) in number }
        } else {
            try locator.register(1, as: Int.self)
        }
        await locator.close()
        let error = failure { () throws(ServiceLocatorError) in try locator.resolve(Int.self, arguments: 1) }
        #expect(error?.reason == .closed)
    }

    @Test("A service with arguments can resolve its own type with other arguments, such as a tree its nodes")
    func tree() throws {
        try root.registerTransient(Tree.self) { (locator, depth: Int) in
            guard depth > 0 else { return Tree([]) }
            return Tree([
                try locator.resolve(Tree.self, arguments: depth - 1),
                try locator.resolve(Tree.self, arguments: depth - 1),
            ])
        }
        #expect(try root.resolve(Tree.self, arguments: 5).count == 63)
        // The greatest depth that is allowed.
        try root.replaceLazy(Tree.self) { _ in Tree([]) }
        try root.registerTransient(Tree.self, named: "list") { (locator, depth: Int) in
            depth == 1 ? Tree([]) : Tree([try locator.resolve(Tree.self, named: "list", arguments: depth - 1)])
        }
        #expect(try root.resolve(Tree.self, named: "list", arguments: 256).count == 256)
        let error = failure { () throws(ServiceLocatorError) in
            try root.resolve(Tree.self, named: "list", arguments: 257)
        }
        #expect(error?.reason == .cycle)
    }

    @Test("A recursion through arguments that never ends is a cycle with its path")
    func endless() throws {
        try root.registerTransient(Int.self, named: "a") { (locator, depth: Int) in
            try locator.resolve(Int.self, named: "b", arguments: depth + 1)
        }
        try root.registerTransient(Int.self, named: "b") { (locator, depth: Int) in
            try locator.resolve(Int.self, named: "a", arguments: depth + 1)
        }
        let error = failure { () throws(ServiceLocatorError) in
            try root.resolve(Int.self, named: "a", arguments: 0)
        }
        #expect(error?.reason == .cycle)
        #expect(error?.path == ["a", "b", "a"].map { "Swift.Int named \"\($0)\" in \"root\"" })
    }
}
