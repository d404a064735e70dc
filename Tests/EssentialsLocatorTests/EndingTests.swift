import EssentialsLocator
import EssentialsTools
import Testing

/// Services that finish what runs before their locator is closed.
@Suite("Finishing before the end", .timeLimit(.minutes(5)))
struct EndingTests {
    /// Records what it is asked, and finishes when a gate opens.
    private final class Worker: NotifiedPart, Closeable {
        let name: String
        private let log: Recorder<String>
        private let end: OneShot<Void>?
        let asked = OneShot<Duration>()

        init(_ name: String, _ log: Recorder<String>, finishedBy end: OneShot<Void>? = nil) {
            (self.name, self.log, self.end) = (name, log, end)
        }

        func finish(within grace: Duration) async {
            log.append("\(name) finishes")
            asked.provide(grace)
            // It ignores its cancellation.
            if let end { await end.value() }
            log.append("\(name) has finished")
        }

        func close() async { log.append("\(name) is closed") }
    }

    private let log = Recorder<String>()
    private let locator = ServiceLocator(name: "app")

    @Test("Services finish one after the other, can still be resolved, and are then closed in the same order")
    func order() async throws {
        let ends = [OneShot<Void>(), OneShot<Void>()]
        let workers = [Worker("first", log, finishedBy: ends[0]), Worker("second", log, finishedBy: ends[1])]
        for worker in workers { try locator.register(worker, as: (any NotifiedPart).self, named: worker.name) }
        try locator.register(Notified("plain", log), as: (any NotifiedTool).self)
        try locator.registerLazy(String.self) { _ in "unbuilt" }
        #expect(!locator.isEnding)
        let closing = Task { [locator] in await locator.close(grace: .seconds(600)) }
        #expect(await workers[1].asked.value() <= .seconds(600))
        #expect(!workers[0].asked.isProvided && locator.isEnding && !locator.isClosed)
        #expect(try locator.resolve((any NotifiedPart).self, named: "first") === workers[0])
        #expect(try locator.resolve(String.self) == "unbuilt")
        ends[1].provide(())
        ends[0].provide(())
        await closing.value
        #expect(locator.isClosed)
        let finished = ["second finishes", "second has finished", "first finishes", "first has finished"]
        #expect(log.all == finished + ["plain", "second is closed", "first is closed"])
    }

    @Test("A service that does not finish in time is closed, even if it ignores its cancellation")
    func late() async throws {
        let end = OneShot<Void>()
        try locator.register(Worker("late", log, finishedBy: end), as: (any NotifiedPart).self)
        await locator.close(grace: .milliseconds(10))
        #expect(log.all.contains("late is closed") && locator.isClosed)
        end.provide(())
    }

    @Test("The end can be announced before it begins, which changes nothing else")
    func announced() async throws {
        try locator.register(Worker("worker", log), as: (any NotifiedPart).self)
        locator.announceEnd()
        #expect(locator.isEnding && !locator.isClosed)
        #expect(try locator.resolve((any NotifiedPart).self) is Worker)
        await locator.close(grace: .seconds(600))
        #expect(log.all == ["worker finishes", "worker has finished", "worker is closed"])
    }

    @Test("In a task that was cancelled before, there is no grace period")
    func cancelledBefore() async throws {
        try locator.register(Worker("worker", log), as: (any NotifiedPart).self)
        let closing = Task { [locator] in
            while !Task.isCancelled { await Task.yield() }
            await locator.close(grace: .seconds(600))
        }
        closing.cancel()
        await closing.value
        #expect(log.all == ["worker is closed"])
    }

    @Test("A cancelled task, a second call and close() end the grace period", arguments: 0..<3)
    func shortened(how: Int) async throws {
        let end = OneShot<Void>()
        let worker = Worker("slow", log, finishedBy: end)
        try locator.register(worker, as: (any NotifiedPart).self)
        let closing = Task { [locator] in await locator.close(grace: .seconds(600)) }
        _ = await worker.asked.value()
        switch how {
        case 0:
            closing.cancel()
            await closing.value
        case 1: await locator.close(grace: .seconds(600))
        default: await locator.close()
        }
        // The first call returns although the service has not finished.
        await closing.value
        #expect(log.all == ["slow finishes", "slow is closed"] && locator.isClosed)
        end.provide(())
    }

    @Test("Without a grace period nothing is asked to finish", arguments: [Duration.zero, .seconds(-1)])
    func none(grace: Duration) async throws {
        try locator.register(Worker("worker", log), as: (any NotifiedPart).self)
        await locator.close(grace: grace)
        #expect(log.all == ["worker is closed"])
    }

    @Test("A locator without services to finish is closed at once, and any grace period is accepted")
    func empty() async throws {
        try locator.register(Notified("plain", log), as: (any NotifiedPart).self)
        await locator.close(grace: .seconds(Int64.max))
        #expect(log.all == ["plain"])
    }
}
