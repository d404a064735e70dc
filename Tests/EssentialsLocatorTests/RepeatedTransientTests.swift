import Testing

@testable import EssentialsLocator

/// A transient registration records its dependencies until its factory has succeeded once. These tests check what happens
/// afterwards. Tests with nested factories run in a separate process, where no other test's factory is recorded.
@Suite("Transient services that were built before", .timeLimit(.minutes(5)))
struct RepeatedTransientTests {
    @Test("A factory that resolves its own service gets a cycle with its path")
    func cycle() async {
        await #expect(processExitsWith: .success) {
            let locator = ServiceLocator(name: "root")
            let runs = Counter()
            try locator.registerTransient(Int.self) { runs.increment() == 1 ? 1 : try $0.resolve(Int.self) }
            demand(try locator.resolve(Int.self) == 1)
            for _ in 0..<2 {
                let error = failure { () throws(ServiceLocatorError) in try locator.resolve(Int.self) }
                demand(error?.reason == .cycle)
                demand(error?.path == ["Swift.Int in \"root\"", "Swift.Int in \"root\""])
            }
            demand(runs.value == 3)
        }
    }

    @Test("A cycle through several factories names them in order")
    func longCycle() async {
        await #expect(processExitsWith: .success) {
            let locator = ServiceLocator(name: "root")
            let isRound = Counter()
            for (from, to) in [("a", "b"), ("b", "c"), ("c", "a")] {
                try locator.registerTransient(Int.self, named: from) { locator in
                    from == "c" && isRound.value == 0 ? 1 : try locator.resolve(Int.self, named: to)
                }
            }
            demand(try locator.resolve(Int.self, named: "a") == 1)
            isRound.increment()
            let error = failure { () throws(ServiceLocatorError) in try locator.resolve(Int.self, named: "b") }
            demand(error?.path == ["b", "c", "a", "b"].map { "Swift.Int named \"\($0)\" in \"root\"" })
        }
    }

    @Test("A transient factory that ran before still receives the owner, or the locator that resolves")
    func origin() throws {
        let root = ServiceLocator(name: "root")
        let child = ServiceLocator(name: "child", parent: root)
        try root.registerTransient(String.self) { $0.name }
        try root.registerTransient(String.self, named: "asked", from: .requester) { $0.name }
        for _ in 0..<3 {
            #expect(try child.resolve(String.self) == "root")
            #expect(try child.resolve(String.self, named: "asked") == "child")
            #expect(try root.resolve(String.self, named: "asked") == "root")
        }
    }

    @Test("A transient factory that fails after a success throws constructionFailed with its own error")
    func failing() throws {
        let root = ServiceLocator(name: "root")
        let child = ServiceLocator(name: "child", parent: root)
        let runs = Counter()
        try root.registerTransient(Int.self, fileID: "App/Main.swift", line: 3) { _ in
            if runs.increment() == 2 { throw FactoryFailure("no disk") }
            return runs.value
        }
        #expect(try child.resolve(Int.self) == 1)
        let error = failure { () throws(ServiceLocatorError) in try child.resolve(Int.self) }
        #expect(error?.reason == .constructionFailed)
        #expect((error?.underlying as? FactoryFailure)?.description == "no disk")
        let text = "The factory of Swift.Int in \"root\", registered at App/Main.swift:3, failed: no disk."
        #expect(error?.message == text)
        #expect(try child.resolve(Int.self) == 3)
    }

    @Test("A closed locator builds no transient services, neither for itself nor for a child")
    func closed() async throws {
        let root = ServiceLocator(name: "root")
        let child = ServiceLocator(name: "child", parent: root)
        let runs = Counter()
        try root.registerTransient(Int.self) { _ in runs.increment() }
        #expect(try child.resolve(Int.self) == 1)
        await root.close()
        for locator in [root, child] {
            let error = failure { () throws(ServiceLocatorError) in try locator.resolve(Int.self) }
            #expect(error?.reason == .closed)
        }
        #expect(runs.value == 1)
    }

    @Test("A transient service that was replaced or unregistered is not built any more")
    func replaced() throws {
        let root = ServiceLocator(name: "root")
        let child = ServiceLocator(name: "child", parent: root)
        try root.register(1, as: Int.self)
        try child.registerTransient(Int.self) { _ in 2 }
        #expect(try child.resolve(Int.self) == 2)
        try child.replace(3, as: Int.self)
        #expect(try child.resolve(Int.self) == 3)
        child.unregister(Int.self)
        try child.registerTransient(Int.self) { _ in 4 }
        #expect(try child.resolve(Int.self) == 4)
        child.unregister(Int.self)
        #expect(try child.resolve(Int.self) == 1)
    }
}
