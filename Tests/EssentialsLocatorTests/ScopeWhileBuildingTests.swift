import EssentialsTools
import Testing

@testable import EssentialsLocator

@Suite("Closing a locator while factories run", .timeLimit(.minutes(5)))
struct ScopeWhileBuildingTests {
    let locator = ServiceLocator(name: "scope")
    let log = Recorder<String>()
    let gate = AsyncGate()
    let inside = Counter()
    let release = Counter()

    /// A lazy registration whose factory blocks its thread until `release` is incremented.
    private func registerBlocking() throws {
        try locator.registerLazy(Notified.self) { [log, inside, release] _ in
            inside.increment()
            spin { release.value > 0 }
            return Notified("lazy", log)
        }
    }

    @Test("A lazy service that is built while the locator closes goes to waiting threads and is notified")
    func lazyService() async throws {
        try registerBlocking()
        let found = Recorder<String>()
        let workers = Workers()
        for _ in 0..<2 {
            workers.start { [locator] in found.append((try? locator.resolve(Notified.self).name) ?? "none") }
        }
        // One thread builds now and the other waits for it.
        spin { inside.value == 1 && locator.isWaitedFor(Notified.self) }
        let closing = Task { [locator] in await locator.close() }
        await yield { locator.isClosed }
        release.increment()
        await closing.value
        workers.join()
        #expect(found.all == ["lazy", "lazy"])
        #expect(inside.value == 1)
        #expect(log.all.first == "lazy")
    }

    @Test("An asynchronous service that is built while the locator closes goes to waiting tasks and is notified")
    func asynchronous() async throws {
        try locator.registerAsync(Notified.self) { [log, gate, inside] _ in
            inside.increment()
            await gate.pass()
            return Notified("async", log)
        }
        let task = Task { [locator] in try await locator.resolveAsync(Notified.self).name }
        await yield { inside.value == 1 }
        let closing = Task { [locator] in await locator.close() }
        await yield { locator.isClosed }
        gate.open()
        #expect(try await task.value == "async")
        await closing.value
        #expect(log.all == ["async"])
        #expect(await thrownLater { try await locator.resolveAsync(Notified.self) }?.reason == .closed)
    }

    @Test("withScope in a cancelled task waits for factories and throws the error of its closure")
    func cancelled() async throws {
        let scopes = Recorder<ServiceLocator>()
        let task = Task { [locator, log, gate, inside, release] in
            defer { release.increment() }
            try await locator.withScope("inner") { scope in
                scopes.append(scope)
                try scope.registerAsync(Notified.self) { _ in
                    inside.increment()
                    await gate.pass()
                    return Notified("async", log)
                }
                Task { _ = try? await scope.resolveAsync(Notified.self) }
                await yield { inside.value == 1 }
                cancelCurrentTask()
                try Task.checkCancellation()
            }
        }
        await yield { scopes.all.contains(where: \.isClosed) }
        await settle()
        #expect(release.value == 0, "the closing did not wait")
        #expect(log.all == [])
        gate.open()
        let result = await task.result
        #expect(throws: CancellationError.self) { try result.get() }
        #expect(log.all == ["async"])
    }

    @Test("Nothing can be resolved after the call of close, even while it waits for a factory")
    func closedAtOnce() async throws {
        try registerBlocking()
        try locator.register(1, as: Int.self)
        try locator.registerLazy(Int.self, named: "lazy") { _ in 2 }
        try locator.registerAsync(Int.self, named: "async") { _ in 3 }
        let workers = Workers()
        workers.start { [locator] in _ = try? locator.resolve(Notified.self) }
        spin { inside.value == 1 }
        let closing = Task { [locator] in await locator.close() }
        await yield { locator.isClosed }
        await settle()
        let reasons = [
            thrown { try locator.resolve(Int.self) }?.reason,
            thrown { try locator.resolve(Int.self, named: "lazy") }?.reason,
            await thrownLater { try await locator.resolveAsync(Int.self, named: "async") }?.reason,
        ]
        release.increment()
        await closing.value
        workers.join()
        #expect(reasons == [.closed, .closed, .closed])
    }

    @Test("A factory that fails while the locator closes does not run again")
    func failing() async throws {
        // All rounds run at once. One after the other, each would wait for its turns beside all other tests.
        try await withThrowingTaskGroup { group in
            for _ in 0..<50 { group.addTask { try await failingRound() } }
            try await group.waitForAll()
        }
    }

    /// Eight tasks resolve a service whose factory fails while the locator closes, until they get `closed`.
    @Sendable private func failingRound() async throws {
        let (locator, gate, builds) = (ServiceLocator(name: "scope"), AsyncGate(), Counter())
        try locator.registerAsync(Notified.self) { [log] _ in
            if builds.increment() > 1 { return Notified("second", log) }
            await gate.pass()
            throw FactoryFailure()
        }
        let tasks = (0..<8).map { _ in
            Task {
                while true {
                    let error = await thrownLater { try await locator.resolveAsync(Notified.self) }
                    guard error?.reason == .constructionFailed else { return error?.reason }
                }
            }
        }
        await yield { builds.value == 1 }
        let closing = Task { await locator.close() }
        await yield { locator.isClosed }
        await settle()
        gate.open()
        var reasons: Set<ServiceLocatorError.Reason?> = []
        for task in tasks { reasons.insert(await task.value) }
        await closing.value
        reasons.insert(await thrownLater { try await locator.resolveAsync(Notified.self) }?.reason)
        #expect(reasons == [.closed])
        #expect(builds.value == 1)
    }

    // MARK: Factories that close

    @Test("An asynchronous factory that closes its own locator finishes, and its service cannot be resolved afterwards")
    func closesItsOwn() async throws {
        try locator.registerAsync(Notified.self) { [log] locator in
            await locator.close()
            return Notified("async", log)
        }
        #expect(try await locator.resolveAsync(Notified.self).name == "async")
        #expect(await thrownLater { try await locator.resolveAsync(Notified.self) }?.reason == .closed)
    }

    @Test(
        "A service with two registrations whose factory closes its locator in a task is notified once",
        arguments: [false, true])
    func leavesClosingToATask(isRegisteredTwice: Bool) async throws {
        let object = Notified("first", log)
        if isRegisteredTwice { try locator.register(object, as: (any NotifiedPart).self) }
        let second = Recorder<WaitNode>()
        try locator.registerAsync(Notified.self, named: "first") { [release] locator in
            Task {
                await locator.close()
                release.increment()
            }
            // The closing does not wait for this factory now, but for others.
            await yield { second.all.contains { locator.waitsToClose(for: $0) } }
            return object
        }
        try locator.registerAsync(Notified.self, named: "second") { [log, gate] _ in
            if let node = AsyncAttempt.running?.node { second.append(node) }
            await gate.pass()
            return Notified("second", log)
        }
        let task = Task { [locator] in try await locator.resolveAsync(Notified.self, named: "second").name }
        await yield { second.all.count == 1 }
        #expect(try await locator.resolveAsync(Notified.self, named: "first") === object)
        await yield { !log.all.isEmpty }
        gate.open()
        #expect(try await task.value == "second")
        await yield { release.value == 1 }
        #expect(log.all == ["first", "second"])
    }

    @Test("An asynchronous factory that closes its own locator and then fails is released and does not run again")
    func closesItsOwnAndFails() async throws {
        let captured = Recorder<String>()
        do {
            let service = Mortal("captured") { captured.append($0) }
            try locator.registerAsync(Notified.self) { [inside] locator in
                inside.increment()
                await locator.close()
                throw FactoryFailure(service.greeting)
            }
        }
        #expect(await thrownLater { try await locator.resolveAsync(Notified.self) }?.reason == .constructionFailed)
        #expect(await thrownLater { try await locator.resolveAsync(Notified.self) }?.reason == .closed)
        #expect(inside.value == 1)
        for _ in 0..<100_000 where captured.all.isEmpty { await Task.yield() }
        #expect(captured.all == ["captured"])
    }

    @Test("An asynchronous factory that closes its own locator at the same time as another task finishes")
    func closesItsOwnSecond() async throws {
        try locator.registerAsync(Notified.self) { [log, gate, inside] locator in
            inside.increment()
            await gate.pass()
            await locator.close()
            return Notified("async", log)
        }
        let task = Task { [locator] in try await locator.resolveAsync(Notified.self).name }
        await yield { inside.value == 1 }
        Task { [locator, release] in
            await locator.close()
            release.increment()
        }
        await yield { locator.isClosed }
        gate.open()
        await yield { release.value == 1 }
        #expect(release.value == 1, "the two wait for each other")
        guard release.value == 1 else { return }
        #expect(try await task.value == "async")
    }

    @Test("A factory that resolves the service that is closing its locator finishes")
    func asksForTheCloser() async throws {
        try locator.registerAsync(Int.self, named: "closer") { [gate, inside] locator in
            spin { inside.value == 1 }
            gate.open()
            await locator.close()
            return 1
        }
        try locator.registerAsync(Int.self, named: "other") { [gate, inside] locator in
            inside.increment()
            await gate.pass()
            await yield { locator.isClosed }
            return try await locator.resolveAsync(Int.self, named: "closer")
        }
        let other = Task { [locator] in await thrownLater { try await locator.resolveAsync(Int.self, named: "other") } }
        await yield { inside.value == 1 }
        let task = Task { [locator, release] in
            let number = try? await locator.resolveAsync(Int.self, named: "closer")
            release.increment()
            return number
        }
        await yield { release.value == 1 }
        #expect(release.value == 1, "the two wait for each other")
        guard release.value == 1 else { return }
        #expect(await task.value == 1)
        #expect(await other.value != nil)
    }

    @Test("Factories of two locators that close each other's locator finish")
    func closeEachOther() async throws {
        let both = [ServiceLocator(name: "first"), ServiceLocator(name: "second")]
        for (own, other) in [(both[0], both[1]), (both[1], both[0])] {
            try own.registerAsync(String.self) { [inside, weak other] locator in
                inside.increment()
                await yield { inside.value == 2 }
                await other?.close()
                return locator.name
            }
        }
        let names = Recorder<String>()
        for locator in both {
            Task { names.append((try? await locator.resolveAsync(String.self)) ?? "none") }
        }
        await yield { names.all.count == 2 }
        #expect(names.all.sorted() == ["first", "second"])
    }
}

private func cancelCurrentTask() { withUnsafeCurrentTask { $0?.cancel() } }

extension ServiceLocator {
    /// Whether the closing waits for a factory.
    fileprivate func waitsToClose(for factory: WaitNode) -> Bool {
        guard case .running(let node, _) = closing.withLock({ $0 }) else { return false }
        return AsyncLinks.shared.withLock { $0.path(from: node, to: factory) != nil }
    }
}
