import EssentialsTools
import Testing

@testable import EssentialsLocator

/// Suspends tasks until it is opened.
final class AsyncGate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

/// Lets other tasks run until `condition` holds, or the test is cancelled by its time limit.
func yield(until condition: () -> Bool) async {
    while !condition(), !Task.isCancelled { await Task.yield() }
}

/// The locator's error that `body` throws, or `nil`.
func thrown<Result>(by body: () throws -> Result) -> ServiceLocatorError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? ServiceLocatorError
    }
}

/// The same for asynchronous closures.
func thrownLater<Result>(by body: () async throws -> Result) async -> ServiceLocatorError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? ServiceLocatorError
    }
}

@Suite("Asynchronous registrations", .timeLimit(.minutes(5)))
struct AsyncRegistrationTests {
    let locator = ServiceLocator.silent("app")
    let gate = AsyncGate()
    let builds = Counter()

    /// Registers a service whose factory resolves the others one after the other.
    private func register(_ name: String, needs others: [String]) throws {
        try locator.registerAsync(Int.self, named: name) { locator in
            var sum = 1
            for other in others { sum += try await locator.resolveAsync(Int.self, named: other) }
            return sum
        }
    }

    private func label(_ name: String) -> String { "Swift.Int named \"\(name)\" in \"app\"" }

    // MARK: Building

    @Test("Many tasks that resolve an asynchronous service first share one attempt and one instance")
    func oneConstruction() async throws {
        try locator.registerAsync((any Greeter).self) { [builds] _ in
            builds.increment()
            await Task.yield()
            return PoliteGreeter()
        }
        let found = try await withThrowingTaskGroup(of: (any Greeter).self) { [locator] group in
            for _ in 0..<200 { group.addTask { try await locator.resolveAsync((any Greeter).self) } }
            return try await group.reduce(into: Set<ObjectIdentifier>()) { $0.insert(ObjectIdentifier($1)) }
        }
        #expect(found.count == 1)
        #expect(builds.value == 1)
    }

    @Test("A synchronous resolve of an asynchronous service throws before and after the service was built")
    func synchronousResolve() async throws {
        try locator.registerAsync((any Greeter).self) { _ in PoliteGreeter() }
        let child = ServiceLocator(name: "child", parent: locator)
        for _ in 0..<2 {
            #expect(thrown { try locator.resolve((any Greeter).self) }?.reason == .asynchronous)
            #expect(thrown { try locator.resolveOptional((any Greeter).self) }?.reason == .asynchronous)
            #expect(thrown { try child.resolve((any Greeter).self) }?.reason == .asynchronous)
            _ = try await locator.resolveAsync((any Greeter).self)
        }
    }

    @Test("resolveAsync finds every other kind of registration")
    func otherKinds() async throws {
        let held = PoliteGreeter("weak")
        try locator.register(PoliteGreeter("strong"), as: (any Greeter).self, named: "strong")
        try locator.registerLazy((any Greeter).self, named: "lazy") { _ in PoliteGreeter("lazy") }
        try locator.registerTransient((any Greeter).self, named: "transient") { _ in PoliteGreeter("transient") }
        try locator.registerWeak(held, as: (any Greeter).self, named: "weak") { $0 }
        try locator.registerWeakProxy(held, as: (any Greeter).self, named: "proxy") { _ in PoliteGreeter("proxy") }
        for name in ["strong", "lazy", "transient", "weak", "proxy"] {
            #expect(try await locator.resolveAsync((any Greeter).self, named: name).greeting == name)
        }
        let first = try await locator.resolveAsync((any Greeter).self, named: "transient")
        #expect(try await locator.resolveAsync((any Greeter).self, named: "transient") !== first)
        let lazy = try locator.resolve((any Greeter).self, named: "lazy")
        #expect(try await locator.resolveAsync((any Greeter).self, named: "lazy") === lazy)
        withExtendedLifetime(held) {}
    }

    @Test("resolveAsync throws what resolve throws for a missing service, missing arguments and a failing factory")
    func otherFailures() async throws {
        try locator.registerTransient(Int.self, named: "arguments") { (_, number: Int) in number }
        try locator.registerLazy(Int.self, named: "lazy") { _ in throw FactoryFailure() }
        let reasons = [
            await thrownLater { try await locator.resolveAsync(Int.self, named: "none") }?.reason,
            await thrownLater { try await locator.resolveAsync(Int.self, named: "arguments") }?.reason,
            await thrownLater { try await locator.resolveAsync(Int.self, named: "lazy") }?.reason,
        ]
        #expect(reasons == [.missing, .argumentMismatch, .constructionFailed])
    }

    @Test("resolveAsync continues in the parent if the object of a weak registration was released")
    func goneWeak() async throws {
        try locator.registerAsync((any Greeter).self) { _ in PoliteGreeter("parent") }
        let child = ServiceLocator(name: "child", parent: locator)
        try child.registerWeak(PoliteGreeter("child"), as: (any Greeter).self) { $0 }
        #expect(try await child.resolveAsync((any Greeter).self).greeting == "parent")
    }

    @Test("A factory that throws is kept and runs again at the next resolve")
    func retries() async throws {
        try locator.registerAsync((any Greeter).self) { [builds] _ in
            if builds.increment() < 3 { throw FactoryFailure("attempt \(builds.value)") }
            return PoliteGreeter()
        }
        for attempt in 1...2 {
            let error = await thrownLater { try await locator.resolveAsync((any Greeter).self) }
            #expect(error?.reason == .constructionFailed)
            #expect((error?.underlying as? FactoryFailure)?.description == "attempt \(attempt)")
        }
        #expect(try await locator.resolveAsync((any Greeter).self).greeting == "Good day")
        #expect(builds.value == 3)
    }

    @Test("Every task that waits for an asynchronous factory gets its error") @MainActor
    func sharedFailure() async throws {
        try locator.registerAsync((any Greeter).self) { [builds, gate] _ in
            let attempt = builds.increment()
            await gate.pass()
            throw FactoryFailure("attempt \(attempt)")
        }
        let asked = Counter()
        let tasks = (0..<10).map { _ in
            // All tasks run on one actor, so a task that has counted is suspended when the next one runs.
            Task { @MainActor [locator] in
                asked.increment()
                return await thrownLater { try await locator.resolveAsync((any Greeter).self) }
            }
        }
        await yield { asked.value == 10 }
        gate.open()
        for task in tasks {
            #expect((await task.value?.underlying as? FactoryFailure)?.description == "attempt 1")
        }
        #expect(builds.value == 1)
    }

    // MARK: Cancellation

    @Test("A cancelled task stops waiting at once, and the other tasks get the service") @MainActor
    func cancelledWaiter() async throws {
        try locator.registerAsync((any Greeter).self) { [builds, gate] _ in
            builds.increment()
            await gate.pass()
            return PoliteGreeter()
        }
        let asked = Counter()
        let tasks = (0..<4).map { _ in
            Task { @MainActor [locator] in
                asked.increment()
                return try await locator.resolveAsync((any Greeter).self)
            }
        }
        await yield { asked.value == 4 }
        // The first one has started the factory's task.
        for index in [0, 2] {
            tasks[index].cancel()
            // The gate is closed, so this returns only if the cancelled task does not wait for the factory.
            let error = await thrownLater { try await tasks[index].value }
            #expect(error?.reason == .cancelled)
        }
        gate.open()
        #expect(try await tasks[1].value === tasks[3].value)
        #expect(builds.value == 1)
    }

    @Test("A task that was cancelled before it resolves gets the error, and a later task gets the service")
    func cancelledBefore() async throws {
        try locator.registerAsync((any Greeter).self) { [gate] _ in
            await gate.pass()
            #expect(!Task.isCancelled)
            return PoliteGreeter()
        }
        let task = Task { [locator] in
            await yield { Task.isCancelled }
            return try await locator.resolveAsync((any Greeter).self)
        }
        task.cancel()
        #expect(await thrownLater { try await task.value }?.reason == .cancelled)
        gate.open()
        #expect(try await locator.resolveAsync((any Greeter).self).greeting == "Good day")
    }

    @Test("A cancelled task gets a service that is already built")
    func cancelledAfterwards() async throws {
        try locator.registerAsync(Int.self) { _ in 1 }
        _ = try await locator.resolveAsync(Int.self)
        let task = Task { [locator] in
            await yield { Task.isCancelled }
            return try await locator.resolveAsync(Int.self)
        }
        task.cancel()
        #expect(try await task.value == 1)
    }

    // MARK: Cycles

    @Test("A factory that resolves its own service gets a cycle with its path")
    func selfCycle() async throws {
        try register("A", needs: ["A"])
        let error = await thrownLater { try await locator.resolveAsync(Int.self, named: "A") }
        #expect(error?.reason == .cycle)
        #expect(error?.path == [label("A"), label("A")])
    }

    @Test("A cycle through several factories names them in order, without those that only lead to it")
    func longCycle() async throws {
        try register("start", needs: ["A"])
        try register("A", needs: ["B"])
        try register("B", needs: ["C"])
        try register("C", needs: ["A"])
        let error = await thrownLater { try await locator.resolveAsync(Int.self, named: "start") }
        #expect(error?.reason == .cycle)
        #expect(error?.path == ["A", "B", "C", "A"].map(label))
    }

    @Test("A cycle through one of several services that a factory resolves concurrently is detected")
    func concurrentCycle() async throws {
        try locator.registerAsync(Int.self, named: "A") { locator in
            async let first = locator.resolveAsync(Int.self, named: "B")
            async let second = locator.resolveAsync(Int.self, named: "C")
            return try await first + second
        }
        try register("B", needs: ["D"])
        try register("C", needs: ["A"])
        try register("D", needs: [])
        let error = await thrownLater { try await locator.resolveAsync(Int.self, named: "A") }
        #expect(error?.reason == .cycle)
        #expect(error?.path == ["A", "C", "A"].map(label))
    }

    @Test("Tasks that enter a cycle at different services all get the cycle error")
    func concurrentStarts() async throws {
        try register("A", needs: ["B"])
        try register("B", needs: ["C"])
        try register("C", needs: ["A"])
        for _ in 0..<20 {
            await withTaskGroup(of: ServiceLocatorError?.self) { [locator] group in
                for name in ["A", "B", "C"] {
                    group.addTask { await thrownLater { try await locator.resolveAsync(Int.self, named: name) } }
                }
                for await error in group {
                    #expect(error?.reason == .cycle)
                    #expect(error?.path.count == 4)
                    #expect(error?.path.first == error?.path.last)
                }
            }
        }
    }

    @Test("Services that need the same service are not a cycle, even if many of them wait for it at once")
    func diamonds() async throws {
        try locator.registerAsync(Int.self, named: "top") { locator in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<8 {
                    group.addTask { try await locator.resolveAsync(Int.self, named: "\(index % 4)") }
                }
                return try await group.reduce(0, +)
            }
        }
        for index in 0..<4 { try register("\(index)", needs: ["bottom", "bottom"]) }
        try register("bottom", needs: [])
        #expect(try await locator.resolveAsync(Int.self, named: "top") == 24)
    }

    @Test("No link is left after waits among asynchronous factories, however they end")
    func linksAreForgotten() async {
        // In a separate process, because all tests of a process share the links.
        await #expect(processExitsWith: .success) {
            let locator = ServiceLocator(name: "app")
            try locator.registerAsync(Int.self, named: "A") { try await $0.resolveAsync(Int.self, named: "B") }
            try locator.registerAsync(Int.self, named: "B") { try await $0.resolveAsync(Int.self, named: "A") }
            try locator.registerAsync(Int.self, named: "C") { try await $0.resolveAsync(Int.self, named: "D") }
            try locator.registerAsync(Int.self, named: "D") { _ in throw FactoryFailure() }
            try locator.registerAsync(Int.self, named: "E") { locator in
                let task = Task { try await locator.resolveAsync(Int.self, named: "F") }
                task.cancel()
                return (try? await task.value) ?? 0
            }
            try locator.registerAsync(Int.self, named: "F") { _ in 2 }
            await withTaskGroup(of: Void.self) { group in
                for name in ["A", "B", "C", "D", "E", "F"] {
                    group.addTask { _ = try? await locator.resolveAsync(Int.self, named: name) }
                }
            }
            await yield { AsyncLinks.shared.withLock { $0.isEmpty } }
        }
    }
}
