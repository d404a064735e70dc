#if Server || Inspector
    import EssentialsLocator
    import EssentialsPersistence
    import EssentialsTestKit
    import EssentialsTools
    import ServiceEssentials
    import ServiceLifecycle
    import ServiceLifecycleTestKit
    import Testing

    /// A locator, and work that uses it, as services of a group.
    @Suite("Services of a group", .timeLimit(.minutes(5)))
    struct ServiceLocatorServiceTests {
        private final class Worker: Closeable {
            let calls = Mutex<[String]>([])

            func finish(within grace: Duration) async {
                let isOwn = grace > .zero && grace <= .seconds(7)
                calls.withLock { $0.append(isOwn ? "finishes" : "finishes within \(grace)") }
            }
            func close() async { calls.withLock { $0.append("is closed") } }
        }

        private struct Fault: Error {}

        private let locator = ServiceLocator(name: "app")
        private let worker = Worker()

        init() throws { try locator.register(worker, as: Worker.self) }

        @Test("A locator is closed when its group shuts down, with the grace period, and not before")
        func shutdown() async throws {
            try await testGracefulShutdown { trigger in
                let service = ServiceLocatorService(locator, grace: .seconds(7))
                let running = Task { try await service.run() }
                #expect(!locator.isEnding)
                trigger.triggerGracefulShutdown()
                try await running.value
            }
            let calls = worker.calls.withLock { $0 }
            #expect(locator.isClosed && calls == ["finishes", "is closed"])
        }

        @Test("A cancelled locator is closed without a grace period")
        func cancelled() async throws {
            let running = Task { [locator] in try await ServiceLocatorService(locator).run() }
            running.cancel()
            try await running.value
            #expect(locator.isClosed && worker.calls.withLock { $0 } == ["is closed"])
        }

        @Test("Work is cancelled when its group shuts down, and what it throws then is no failure of the group")
        func work() async throws {
            let transport = ScriptedTransport()
            transport.on(.get, "/v1/a").answer { _ in
                try await Task.sleep(for: .seconds(600))
                return ScriptedAnswer(.ok)
            }
            let requests = HTTPDataRequestService(
                environment: try ConstantEnvironment("https://h/v1/"), transport: transport)
            try locator.register(requests, as: (any DataRequestService).self)
            try await testGracefulShutdown { trigger in
                let work = ServiceLocatorTask(locator) { locator in
                    try await locator.resolve((any DataRequestService).self).send(DataRequest(.get, "a"))
                }
                let running = Task { try await work.run() }
                _ = try await transport.request(number: 1)
                trigger.triggerGracefulShutdown()
                try await running.value
            }
            await locator.close()
        }

        @Test("Work whose locator is closed first waits until its group shuts down", arguments: [true, false])
        func closedFirst(resolves: Bool) async throws {
            let requests = HTTPDataRequestService(
                environment: try ConstantEnvironment("https://h/v1/"), transport: ScriptedTransport())
            try locator.register(requests, as: (any DataRequestService).self)
            let ended = OneShot<Void>()
            try await testGracefulShutdown { trigger in
                let attempts = OneShot<Void>()
                let work = ServiceLocatorTask(locator) { locator in
                    defer { attempts.provide(()) }
                    await locator.close()
                    if resolves { _ = try locator.resolve((any DataRequestService).self) }
                    try await requests.send(DataRequest(.get, "a"))
                }
                let running = Task {
                    try await work.run()
                    ended.provide(())
                }
                await attempts.value()
                for _ in 0..<100 { await Task.yield() }
                #expect(!ended.isProvided)
                trigger.triggerGracefulShutdown()
                try await running.value
            }
        }

        @Test(
            "A store that is cancelled or closed, and a sequence that ends with the locator, are no failures of the group"
        )
        func endings() async throws {
            for reason in [PersistenceFailure.Reason.cancelled, .closed] {
                try await testGracefulShutdown { trigger in
                    trigger.triggerGracefulShutdown()
                    try await ServiceLocatorTask(locator) { _ in throw PersistenceFailure(reason, "It ended.") }.run()
                }
            }
            try await testGracefulShutdown { trigger in
                let (begun, ended) = (OneShot<Void>(), OneShot<Void>())
                let work = ServiceLocatorTask(locator) { locator in
                    await locator.close()
                    begun.provide(())
                }
                let running = Task {
                    try await work.run()
                    ended.provide(())
                }
                await begun.value()
                for _ in 0..<100 { await Task.yield() }
                #expect(!ended.isProvided)
                trigger.triggerGracefulShutdown()
                try await running.value
            }
        }

        @Test("A locator is not ready as soon as its group begins to shut down")
        func readiness() async throws {
            try await testGracefulShutdown { trigger in
                let running = Task { [locator] in try await ServiceLocatorReadiness(locator).run() }
                #expect(await locator.health().isReady)
                trigger.triggerGracefulShutdown()
                try await running.value
                let report = await locator.health()
                #expect(!report.isReady && report.isAlive)
            }
        }

        @Test("A failure that the shutdown has not caused ends the group")
        func failures() async throws {
            let failing = ServiceLocatorTask(locator) { _ in throw Fault() }
            await #expect(throws: Fault.self) { try await failing.run() }
            let cancelled = ServiceLocatorTask(locator) { _ in
                throw RequestFailure(.cancelled, "A token was cancelled.")
            }
            await #expect(throws: RequestFailure.self) { try await cancelled.run() }
            await testGracefulShutdown { trigger in
                trigger.triggerGracefulShutdown()
                await #expect(throws: Fault.self) { try await failing.run() }
            }
            try await ServiceLocatorTask(locator) { _ in }.run()
        }
    }
#endif
