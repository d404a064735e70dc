import Testing

@testable import EssentialsLocator

@Suite("Insight: validating", .timeLimit(.minutes(5)))
struct ValidationTests {
    let locator = ServiceLocator(name: "app")
    let builds = Counter()

    @Test("validate returns no failure for a locator without registrations")
    func empty() async {
        #expect(await locator.validate().isEmpty)
    }

    @Test("validate builds services once and returns no failure for those that can be built") @MainActor
    func fine() async throws {
        let held = PoliteGreeter()
        try locator.register(1, as: Int.self)
        try locator.registerLazy(Int.self, named: "lazy") { [builds] _ in builds.increment() }
        try locator.registerAsync(Int.self, named: "async") { [builds] locator in
            builds.increment() + (try locator.resolve(Int.self, named: "lazy"))
        }
        try locator.registerTransient(Int.self, named: "transient") { [builds] _ in builds.increment() }
        try locator.registerTransient(Int.self, named: "arguments") { (_, _: Int) in throw FactoryFailure() }
        try locator.registerWeak(held)
        try locator.registerWeakProxy(held, as: (any Greeter).self) { $0 }
        try locator.registerLazyOnMainActor(Int.self) { [builds] _ in
            MainActor.preconditionIsolated()
            return builds.increment()
        }
        let validation = Task.detached { [locator] in await locator.validate() }
        #expect(await validation.value.isEmpty)
        #expect(builds.value == 4)
        _ = try locator.resolve(Int.self, named: "lazy")
        _ = try await locator.resolveAsync(Int.self, named: "async")
        _ = try locator.resolveOnMainActor(Int.self)
        #expect(builds.value == 4)
        withExtendedLifetime(held) {}
    }

    @Test("validate returns all failures in order of registration, and failed factories run again later")
    func failures() async throws {
        try locator.registerLazy(Int.self, named: "lazy") { _ in throw FactoryFailure("lazy") }
        try locator.register(1, as: Int.self)
        try locator.registerTransient(Int.self, named: "transient") { _ in throw FactoryFailure("transient") }
        try locator.registerAsync(Int.self, named: "async") { _ in throw FactoryFailure("async") }
        try locator.registerWeak(PoliteGreeter())
        try locator.registerWeakProxy(PoliteGreeter(), as: (any Greeter).self) { _ in PoliteGreeter() }
        try locator.registerLazy(Int.self, named: "self") { try $0.resolve(Int.self, named: "self") }
        try locator.registerLazy(Int.self, named: "needs lazy") { try $0.resolve(Int.self, named: "lazy") }
        for _ in 0..<2 {
            let failures = await locator.validate()
            #expect(
                failures.map(\.reason) == [
                    .constructionFailed, .constructionFailed, .constructionFailed, .serviceGone, .serviceGone, .cycle,
                    .constructionFailed,
                ])
            #expect(failures.map(\.serviceName) == ["lazy", "transient", "async", nil, nil, "self", "needs lazy"])
            #expect(failures.last?.message.contains("named \"lazy\"") == true)
        }
    }

    @Test("validate does not check the registrations of a parent")
    func parents() async throws {
        try locator.registerLazy(Int.self) { _ in throw FactoryFailure() }
        let child = ServiceLocator(name: "child", parent: locator)
        #expect(await child.validate().isEmpty)
        try child.registerLazy(Int.self, named: "uses it") { try $0.resolve(Int.self) }
        #expect(await child.validate().count == 1)
    }

    @Test("validate skips registrations that were replaced or unregistered")
    func removed() async throws {
        try locator.registerLazy(Int.self) { _ in throw FactoryFailure() }
        try locator.registerLazy(Int.self, named: "b") { _ in throw FactoryFailure() }
        try locator.replace(1, as: Int.self)
        locator.unregister(Int.self, named: "b")
        #expect(await locator.validate().isEmpty)
    }
}

@Suite("Insight: graphs", .timeLimit(.minutes(5)))
struct GraphTests {
    let root = ServiceLocator(name: "root")
    let app: ServiceLocator

    init() { app = ServiceLocator(name: "app", parent: root) }

    private func state(of name: String, in graph: ServiceGraph) -> ServiceGraph.State? {
        graph.locators.flatMap(\.registrations).first { $0.name == name }?.state
    }

    /// The edges by the names of the registrations.
    private func edges(_ graph: ServiceGraph) -> [String] {
        var names: [UInt64: String] = [:]
        for registration in graph.locators.flatMap(\.registrations) { names[registration.id] = registration.name }
        for registration in graph.elsewhere { names[registration.id] = registration.label }
        return graph.edges.map { "\(names[$0.from] ?? "?") > \(names[$0.to] ?? "?")" }
    }

    private func register(_ name: String, in locator: ServiceLocator, needs others: String...) throws {
        try locator.registerLazy(Int.self, named: name) { locator in
            try others.reduce(1) { try $0 + locator.resolve(Int.self, named: $1) }
        }
    }

    @Test("A graph shows the kind, state, source line and locator of each registration")
    func registrations() async throws {
        let held = PoliteGreeter()
        try app.register(1, as: Int.self, named: "strong", fileID: "App/Main.swift", line: 7)
        try register("unbuilt", in: app)
        try register("built", in: app)
        try app.registerLazy(Int.self, named: "failed") { _ in throw FactoryFailure() }
        try app.registerTransient(Int.self, named: "transient") { _ in 1 }
        try app.registerAsync(Int.self, named: "async unbuilt") { _ in 1 }
        try app.registerAsync(Int.self, named: "async built") { _ in 1 }
        try app.registerWeak(held, named: "weak")
        try app.registerWeak(PoliteGreeter(), named: "gone")
        try app.registerWeakProxy(held, as: (any Greeter).self, named: "proxy") { _ in PoliteGreeter() }
        try root.register(2, as: Int.self)
        try app.register(3, as: Int.self, named: "removed")
        app.unregister(Int.self, named: "removed")
        _ = try app.resolve(Int.self, named: "built")
        _ = try? app.resolve(Int.self, named: "failed")
        _ = try await app.resolveAsync(Int.self, named: "async built")
        let graph = app.graph()
        #expect(graph.locators.map(\.name) == ["app", "root"])
        #expect(graph.locators.map(\.isClosed) == [false, false])
        let own = graph.locators.first?.registrations ?? []
        #expect(own.first?.site == "App/Main.swift:7")
        #expect(own.first?.label == "Swift.Int named \"strong\"")
        #expect(
            own.map { "\($0.name ?? "-"): \($0.kind.rawValue), \($0.state.rawValue)" } == [
                "strong: strong, built", "unbuilt: lazy, unbuilt", "built: lazy, built", "failed: lazy, unbuilt",
                "transient: transient, built each time", "async unbuilt: async, unbuilt", "async built: async, built",
                "weak: weak, built", "gone: weak, gone", "proxy: weak proxy, built",
            ])
        #expect(graph.locators.last?.registrations.map(\.type) == ["Swift.Int"])
        #expect(graph.edges.isEmpty)
        #expect(graph.elsewhere.isEmpty)
        withExtendedLifetime(held) {}
    }

    @Test("A graph shows a running factory, synchronous or not, as building")
    func building() async throws {
        let gate = AsyncGate()
        let inside = Counter()
        let release = Counter()
        try app.registerLazy(Int.self, named: "lazy") { _ in
            inside.increment()
            spin { release.value > 0 }
            return 1
        }
        try app.registerAsync(Int.self, named: "async") { _ in
            inside.increment()
            await gate.pass()
            return 1
        }
        let workers = Workers()
        workers.start { [app] in _ = try? app.resolve(Int.self, named: "lazy") }
        let task = Task { [app] in try await app.resolveAsync(Int.self, named: "async") }
        await yield { inside.value == 2 }
        let graph = app.graph()
        release.increment()
        gate.open()
        workers.join()
        _ = try await task.value
        #expect(state(of: "lazy", in: graph) == .building)
        #expect(state(of: "async", in: graph) == .building)
    }

    @Test("A graph shows every registration of a closed locator as closed")
    func closed() async throws {
        let held = PoliteGreeter()
        try app.register(1, as: Int.self, named: "strong")
        try register("lazy", in: app)
        try app.registerTransient(Int.self, named: "transient") { _ in 1 }
        try app.registerWeak(held, named: "weak")
        try app.registerAsync(Int.self, named: "async") { _ in 1 }
        try app.registerAsync(Int.self, named: "async built") { _ in 1 }
        _ = try await app.resolveAsync(Int.self, named: "async built")
        await app.close()
        let graph = app.graph()
        #expect(graph.locators.map(\.isClosed) == [true, false])
        for registration in graph.locators[0].registrations {
            #expect(registration.state == .closed, "\(registration.label)")
        }
        withExtendedLifetime(held) {}
    }

    // MARK: Edges

    @Test("Edges lead from a service to the services that its factory resolved, even in parents")
    func lazyEdges() throws {
        try register("top", in: app, needs: "left", "right", "left")
        try register("left", in: app, needs: "bottom")
        try register("right", in: app, needs: "bottom")
        try register("bottom", in: root)
        try register("unbuilt", in: app, needs: "bottom")
        _ = try app.resolve(Int.self, named: "top")
        #expect(edges(app.graph()) == ["top > left", "top > right", "left > bottom", "right > bottom"])
        #expect(app.graph().elsewhere.isEmpty)
        #expect(root.graph().edges.isEmpty)
    }

    @Test("Services that were built before and services from resolveOptional have edges too")
    func readyEdges() throws {
        try app.register(1, as: Int.self, named: "strong")
        try register("built", in: app)
        _ = try app.resolve(Int.self, named: "built")
        try app.registerLazy(Int.self, named: "late") { locator in
            let built = try locator.resolveOptional(Int.self, named: "built") ?? 0
            return try built + locator.resolve(Int.self, named: "strong") + (locator.resolveOptional(Int.self) ?? 0)
        }
        _ = try app.resolve(Int.self, named: "late")
        #expect(edges(app.graph()) == ["late > built", "late > strong"])
    }

    @Test("Asynchronous factories have edges for resolves in child tasks and synchronous resolves")
    func asyncEdges() async throws {
        try app.registerAsync(Int.self, named: "async") { locator in
            let first = try locator.resolve(Int.self, named: "lazy")
            await Task.yield()
            async let second = locator.resolveAsync(Int.self, named: "other")
            return try await first + second
        }
        try register("lazy", in: app, needs: "strong")
        try app.registerAsync(Int.self, named: "other") { locator in
            await Task.yield()
            return try locator.resolve(Int.self, named: "strong")
        }
        try root.register(1, as: Int.self, named: "strong")
        _ = try await app.resolveAsync(Int.self, named: "async")
        #expect(
            edges(app.graph()) == ["async > lazy", "async > other", "lazy > strong", "other > strong"])
    }

    @Test("Transient factories have edges, with and without arguments")
    func transientEdges() throws {
        try app.registerTransient(Int.self, named: "transient") { try $0.resolve(Int.self, named: "strong") }
        try app.registerTransient(Int.self, named: "arguments") { (locator, number: Int) in
            try locator.resolve(Int.self, named: "transient") + number
        }
        try app.register(1, as: Int.self, named: "strong")
        for number in 0..<3 { _ = try app.resolve(Int.self, named: "arguments", arguments: number) }
        #expect(edges(app.graph()) == ["transient > strong", "arguments > transient"])
    }

    @Test("A transient factory that fails first has the edges of its first success")
    func failedTransientEdges() throws {
        let runs = Counter()
        try app.registerTransient(Int.self, named: "transient") { locator in
            if runs.increment() == 1 { throw FactoryFailure() }
            return try locator.resolve(Int.self, named: "strong")
        }
        try app.register(1, as: Int.self, named: "strong")
        _ = try? app.resolve(Int.self, named: "transient")
        _ = try app.resolve(Int.self, named: "transient")
        #expect(edges(app.graph()) == ["transient > strong"])
    }

    @Test("Resolves outside factories, and in tasks that outlive their factory, create no edges")
    func noEdges() async throws {
        let gate = AsyncGate()
        let inside = Counter()
        let done = Counter()
        let release = Counter()
        try app.register(1, as: Int.self, named: "strong")
        try app.registerAsync(Int.self, named: "async") { locator in
            Task {
                await gate.pass()
                _ = try locator.resolve(Int.self, named: "strong")
                done.increment()
            }
            return 1
        }
        try app.registerLazy(Int.self, named: "slow") { _ in
            inside.increment()
            spin { release.value > 0 }
            return 1
        }
        _ = try await app.resolveAsync(Int.self, named: "async")
        let workers = Workers()
        workers.start { [app] in _ = try? app.resolve(Int.self, named: "slow") }
        spin { inside.value == 1 }
        // Resolves look for their factory while any factory runs.
        _ = try app.resolve(Int.self, named: "strong")
        gate.open()
        await yield { done.value == 1 }
        release.increment()
        workers.join()
        #expect(edges(app.graph()) == [])
    }

    @Test("Only the resolves inside a running factory are recorded, not those of other threads")
    func recording() throws {
        let inside = Counter()
        let release = Counter()
        let isAsked = Recorder<Bool>()
        @Sendable func asks(_ locator: ServiceLocator) -> Bool {
            let names: [String?] = [nil, "named"]
            return names.allSatisfy { name in
                if case .slot = locator.find(ObjectIdentifier(Int.self), named: name) { true } else { false }
            }
        }
        try root.register(1, as: Int.self)
        try root.register(2, as: Int.self, named: "named")
        try app.registerLazy(String.self) { locator in
            isAsked.append(asks(locator))
            inside.increment()
            spin { release.value > 0 }
            return ""
        }
        let workers = Workers()
        workers.start { [app] in _ = try? app.resolve(String.self) }
        spin { inside.value == 1 }
        isAsked.append(asks(app))
        release.increment()
        workers.join()
        #expect(isAsked.all == [true, false])
    }

    @Test("Dependencies in other locators, and replaced ones, are listed separately in the graph")
    func elsewhere() throws {
        let other = ServiceLocator(name: "other")
        try other.registerLazy(Int.self, named: "there", fileID: "App/Other.swift", line: 4) { _ in 1 }
        try app.registerTransient(Int.self, named: "replaced", fileID: "App/Main.swift", line: 5) { _ in 2 }
        try app.registerLazy(Int.self, named: "lazy") { locator in
            try locator.resolve(Int.self, named: "replaced") + other.resolve(Int.self, named: "there")
        }
        _ = try app.resolve(Int.self, named: "lazy")
        try app.replace(3, as: Int.self, named: "replaced")
        let graph = app.graph()
        let replaced = "Swift.Int named \"replaced\" in \"app\""
        let there = "Swift.Int named \"there\" in \"other\""
        #expect(graph.elsewhere.map(\.label) == [replaced, there])
        #expect(graph.elsewhere.map(\.type) == ["Swift.Int", "Swift.Int"])
        #expect(graph.elsewhere.map(\.name) == ["replaced", "there"])
        #expect(graph.elsewhere.map(\.kind) == [.transient, .lazy])
        #expect(graph.elsewhere.map(\.site) == ["App/Main.swift:5", "App/Other.swift:4"])
        #expect(graph.elsewhere.map(\.state) == [.elsewhere, .elsewhere])
        #expect(edges(graph) == ["lazy > \(replaced)", "lazy > \(there)"])
        #expect(graph.text.contains("    needs \(there)"))
    }

    @Test("The graph states in every format that a factory has more dependencies than are kept")
    func moreEdges() throws {
        let limit = Dependencies.limit
        for index in 0...limit { try root.register(index, as: Int.self, named: "\(index)") }
        for (name, count) in [("all", limit), ("more", limit + 1)] {
            try app.registerLazy(Int.self, named: name) { locator in
                // Twice, because a repeated dependency is not counted again.
                let names = (0..<count).map(String.init)
                return try (names + names).reduce(0) { try $0 + locator.resolve(Int.self, named: $1) }
            }
            _ = try app.resolve(Int.self, named: name)
        }
        let graph = app.graph()
        #expect(graph.locators.first?.registrations.map(\.hasMoreEdges) == [false, true])
        #expect(graph.edges.count == 2 * limit)
        #expect(graph.text.split(separator: "\n").filter { $0 == "    needs more" }.count == 1)
        for text in [graph.mermaid, graph.dot] {
            #expect(text.split(separator: "\n").filter { $0.contains("lazy, built, needs more") }.count == 1)
        }
    }
}

@Suite("Insight: texts")
struct GraphTextTests {
    /// Registrations of one file. Their texts are known except for the identifiers, which tests replace.
    private func example() throws -> ServiceLocator {
        let root = ServiceLocator(name: "root")
        try root.register(1, as: Int.self, fileID: "App/Root.swift", line: 1)
        let app = ServiceLocator(name: "app", parent: root)
        try app.registerLazy(String.self, fileID: "App/Main.swift", line: 2) { "\(try $0.resolve(Int.self))" }
        try app.registerTransient(Int.self, named: "n", fileID: "App/Main.swift", line: 3) { _ in 1 }
        _ = try app.resolve(String.self)
        return app
    }

    /// The text with 1, 2, … in place of the graph's identifiers, which are unique in the process.
    private func normalized(_ text: String, _ graph: ServiceGraph) -> String {
        var result = text
        let ids = (graph.locators.flatMap(\.registrations) + graph.elsewhere).map(\.id)
        for (index, id) in ids.enumerated() {
            for prefix in ["N", "n"] {
                for end in ["[", " ", ";", "\n"] {
                    result = result.split(separator: "\(prefix)\(id)\(end)", omittingEmptySubsequences: false)
                        .joined(separator: "\(prefix)#\(index + 1)\(end)")
                }
            }
        }
        return result
    }

    @Test("The text of a graph lists locators, registrations and dependencies")
    func text() throws {
        let graph = try example().graph()
        #expect(
            graph.text == """
                "app": 2 registrations
                  Swift.String: lazy, built (App/Main.swift:2)
                    needs Swift.Int in "root"
                  Swift.Int named "n": transient, built each time (App/Main.swift:3)
                parent "root": 1 registration
                  Swift.Int: strong, built (App/Root.swift:1)
                """)
        #expect("\(graph)" == graph.text)
    }

    @Test("description lists a locator's own registrations, and chainDescription those of its parents too")
    func descriptions() async throws {
        let app = try example()
        let own = """
            "app": 2 registrations
              Swift.String: lazy, built (App/Main.swift:2)
              Swift.Int named "n": transient, built each time (App/Main.swift:3)
            """
        #expect("\(app)" == own)
        #expect(
            app.chainDescription == own + "\n" + """
                parent "root": 1 registration
                  Swift.Int: strong, built (App/Root.swift:1)
                """)
        let empty = ServiceLocator(name: "empty")
        await empty.close()
        #expect("\(empty)" == "\"empty\", closed: 0 registrations")
    }

    @Test("The Mermaid text is a flowchart")
    func mermaid() throws {
        let graph = try example().graph()
        #expect(
            normalized(graph.mermaid + "\n", graph) == """
                flowchart TD
                  subgraph L0["app"]
                    N#1["Swift.String<br/>lazy, built"]
                    N#2["Swift.Int named #quot;n#quot;<br/>transient, built each time"]
                  end
                  subgraph L1["root"]
                    N#3["Swift.Int<br/>strong, built"]
                  end
                  N#1 --> N#3

                """)
    }

    @Test("The DOT text is a digraph with a cluster for each locator")
    func dot() throws {
        let graph = try example().graph()
        #expect(
            normalized(graph.dot, graph) == #"""
                digraph services {
                  node [shape=box];
                  subgraph cluster0 {
                    label="app";
                    n#1 [label="Swift.String\nlazy, built"];
                    n#2 [label="Swift.Int named \"n\"\ntransient, built each time"];
                  }
                  subgraph cluster1 {
                    label="root";
                    n#3 [label="Swift.Int\nstrong, built"];
                  }
                  n#1 -> n#3;
                }
                """#)
    }

    @Test("Quotes, backslashes, line ends and markup in names do not end a label")
    func escaping() throws {
        let locator = ServiceLocator(name: #"a "b" \ c"#)
        try locator.register(1, as: Int.self, named: "<x> & #1;\\\"\nend\\")
        let graph = locator.graph()
        #expect(graph.dot.contains(#"label="a \"b\" \\ c";"#))
        #expect(graph.dot.contains(#"[label="Swift.Int named \"<x> & #1;\\\"\nend\\\"\nstrong, built"];"#))
        #expect(graph.mermaid.contains(##"subgraph L0["a #quot;b#quot; \ c"]"##))
        #expect(
            graph.mermaid.contains(
                ##"["Swift.Int named #quot;#lt;x#gt; #amp; #35;1;\#quot; end\#quot;<br/>strong, built"]"##))
    }
}
