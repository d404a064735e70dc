import EssentialsLocator
import Testing

extension SemanticsTests {
    private func label(_ name: String, in locator: String = "root") -> String {
        "Swift.Int named \"\(name)\" in \"\(locator)\""
    }

    @Test("A transient factory that resolves its own service gets a cycle with its path")
    func transientSelfCycle() throws {
        try root.registerTransient(Int.self, named: "a") { try $0.resolve(Int.self, named: "a") }
        for _ in 0..<2 {
            let error = failure { () throws(ServiceLocatorError) in try root.resolve(Int.self, named: "a") }
            #expect(error?.reason == .cycle)
            #expect(error?.path == [label("a"), label("a")])
        }
    }

    @Test("An asynchronous factory that resolves its own service gets a cycle with its path")
    func asyncSelfCycle() async throws {
        try root.registerAsync(Int.self, named: "a") { try await $0.resolveAsync(Int.self, named: "a") }
        let error = await #expect(throws: ServiceLocatorError.self) {
            try await root.resolveAsync(Int.self, named: "a")
        }
        #expect(error?.reason == .cycle)
        #expect(error?.path == [label("a"), label("a")])
    }

    @Test("A cycle through transient services names them in order, whichever is resolved first")
    func transientCycle() throws {
        for (from, to) in [("start", "a"), ("a", "b"), ("b", "c"), ("c", "a")] {
            try root.registerTransient(Int.self, named: from) { try $0.resolve(Int.self, named: to) }
        }
        for (entry, names) in [("start", ["a", "b", "c", "a"]), ("b", ["b", "c", "a", "b"])] {
            let error = failure { () throws(ServiceLocatorError) in try root.resolve(Int.self, named: entry) }
            #expect(error?.reason == .cycle)
            #expect(error?.path == names.map { label($0) })
        }
    }

    @Test("A cycle through lazy, transient and argument-taking services names all of them")
    func mixedCycle() throws {
        try root.registerLazy(Int.self, named: "lazy") { try $0.resolve(Int.self, named: "transient") }
        try root.registerTransient(Int.self, named: "transient") {
            try $0.resolve(Int.self, named: "arguments", arguments: 1)
        }
        try root.registerTransient(Int.self, named: "arguments") { (locator, number: Int) in
            try locator.resolve(Int.self, named: "lazy") + number
        }
        let lazy = failure { () throws(ServiceLocatorError) in try root.resolve(Int.self, named: "lazy") }
        #expect(lazy?.path == ["lazy", "transient", "arguments", "lazy"].map { label($0) })
        let transient = failure { () throws(ServiceLocatorError) in try root.resolve(Int.self, named: "transient") }
        #expect(transient?.path == ["transient", "arguments", "lazy", "transient"].map { label($0) })
    }

    @Test("A transient cycle through a child and its parent names the locator of each registration")
    func transientCycleAcrossLocators() throws {
        let child = ServiceLocator(name: "child", parent: root)
        try root.registerTransient(Int.self, named: "up", from: .requester) { try $0.resolve(Int.self, named: "down") }
        try child.registerTransient(Int.self, named: "down") { try $0.resolve(Int.self, named: "up") }
        let error = failure { () throws(ServiceLocatorError) in try child.resolve(Int.self, named: "down") }
        #expect(error?.path == [label("down", in: "child"), label("up"), label("down", in: "child")])
    }

    @Test("Running a transient factory on several threads, or twice in a row, is not a cycle")
    func notACycle() throws {
        let inside = Counter()
        try root.registerTransient(Int.self, named: "leaf") { _ in inside.increment() }
        try root.registerTransient(Int.self, named: "twice") {
            try $0.resolve(Int.self, named: "leaf") + $0.resolve(Int.self, named: "leaf")
        }
        #expect(try root.resolve(Int.self, named: "twice") == 3)
        let meeting = Counter()
        try root.registerTransient(String.self) { _ in
            meeting.increment()
            spin { meeting.value >= 4 }
            return "met"
        }
        let seen = Recorder<String>()
        Workers.run(4) { [root] _ in seen.append(root.require(String.self)) }
        #expect(seen.all.count == 4)
    }

    @Test("A cycle of two threads through transient services fails both, and the path names all services in order")
    func crossThreadCycleThroughTransients() throws {
        for round in 0..<20 {
            let inside = Counter()
            let errors = Recorder<ServiceLocatorError?>()
            for (own, other) in [("a\(round)", "b\(round)"), ("b\(round)", "a\(round)")] {
                try root.registerTransient(Int.self, named: "to \(other)") { try $0.resolve(Int.self, named: other) }
                try root.registerLazy(Int.self, named: own) { locator in
                    // Both factories run before either resolves the other's service.
                    inside.increment()
                    spin { inside.value >= 2 }
                    return try locator.resolve(Int.self, named: "to \(other)")
                }
            }
            Workers.run(2) { [root] index in
                let name = index == 0 ? "a\(round)" : "b\(round)"
                errors.append(failure { () throws(ServiceLocatorError) in try root.resolve(Int.self, named: name) })
            }
            let next = [
                label("a\(round)"): label("to b\(round)"), label("to b\(round)"): label("b\(round)"),
                label("b\(round)"): label("to a\(round)"), label("to a\(round)"): label("a\(round)"),
            ]
            #expect(errors.all.map { $0?.reason } == [.cycle, .cycle])
            for error in errors.all {
                let path = error?.path ?? []
                #expect(path.count == 5)
                #expect(zip(path, path.dropFirst()).allSatisfy { next[$0] == $1 })
            }
        }
    }

    @Test("A cycle of three threads fails all three and leaves no waits behind")
    func threeThreads() throws {
        for _ in 0..<20 {
            let locator = ServiceLocator(name: "root")
            let inside = Counter()
            let errors = Recorder<ServiceLocatorError?>()
            for index in 0..<3 {
                try locator.registerLazy(Int.self, named: "\(index)") { locator in
                    inside.increment()
                    spin { inside.value >= 3 }
                    return try locator.resolve(Int.self, named: "\((index + 1) % 3)")
                }
            }
            Workers.run(3) { index in
                errors.append(
                    failure { () throws(ServiceLocatorError) in try locator.resolve(Int.self, named: "\(index)") })
            }
            #expect(errors.all.map { $0?.reason } == [.cycle, .cycle, .cycle])
            #expect(errors.all.allSatisfy { $0?.path.count == 4 })
            try locator.replace(7, as: Int.self, named: "0")
            #expect(try locator.resolve(Int.self, named: "1") == 7)
        }
    }
}
