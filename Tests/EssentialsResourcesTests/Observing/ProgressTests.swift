import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsResources

@Suite("Resource: progress for observers", .leavesNothing)
struct ProgressTests {
    private struct Entry: Sendable {
        let event: ResourceEvent
        let version: UInt64
        let progress: Double?
        let isLoading: Bool
        let time: Duration

        /// The progress of the event.
        var reported: Double? {
            guard case .progress(let value) = event else { return nil }
            return value
        }
    }

    /// Records changes with their time.
    private final class Log: Sendable {
        private let entries = Mutex<[Entry]>([])
        let clock: RequestClock

        init(_ clock: RequestClock) { self.clock = clock }

        var all: [Entry] { entries.withLock { $0 } }
        var reported: [Double] { all.compactMap(\.reported) }
        /// The events without progress, except the last one of each load.
        var events: [ResourceEvent] { all.map(\.event).filter { if case .progress(..<1) = $0 { false } else { true } } }

        func add<Content>(_ change: ResourceChange<Content>) {
            let entry = Entry(
                event: change.event, version: change.state.version, progress: change.state.progress,
                isLoading: change.state.isLoading, time: clock.now)
            entries.withLock { $0.append(entry) }
        }
    }

    private func log<Content>(
        _ resource: Resource<Content>, _ fixture: ResourceFixture, reportingProgress: Bool = true
    ) -> (Log, ResourceObservation) {
        let log = Log(fixture.clock.requestClock)
        let observation = resource.observeSynchronously(reportingProgress: reportingProgress) { log.add($0) }
        return (log, observation)
    }

    @Test("Progress grows with time and bytes, is reported at most every 50 ms, and is 1 just before the content")
    func growth() async throws {
        let fixture = try ResourceFixture()
        let piece = ScriptedPiece.bytes(Data(repeating: 7, count: 50_000))
        fixture.transport.on(.get, "/v1/item").answer(
            pieces: [
                piece, .pause(.milliseconds(20)), piece, .pause(.milliseconds(120)), piece, .pause(.seconds(1)),
                piece,
            ],
            after: .milliseconds(130))
        let item: Resource<Data> = fixture.service.resource("item")
        let (log, observation) = log(item, fixture)
        let (ordinary, second) = self.log(item, fixture, reportingProgress: false)
        item.startLoad()
        #expect(item.state.progress == 0)
        // The delay of the response or a pause, and the progress, which grows with time.
        while item.isLoading {
            if fixture.clock.sleeperCount == 2 { fixture.clock.advanceToNextDeadline() }
            await Task.yield()
        }
        while item.isNotifying { await Task.yield() }
        let reported = log.all.filter { $0.reported != nil }
        #expect(reported.count > 4)
        #expect(reported.map(\.reported) == reported.map(\.progress))
        #expect(log.reported == log.reported.sorted() && Set(log.reported).count == log.reported.count)
        for (one, other) in zip(reported, reported.dropFirst()) where other.reported != 1 {
            #expect(other.time - one.time >= .milliseconds(50))
        }
        #expect(log.reported.first.map { $0 > 0 && $0 < 0.2 } == true && reported.first?.time == .milliseconds(50))
        #expect(log.reported.dropLast().last.map { $0 > 0.5 } == true)
        #expect(!reported.contains { !$0.isLoading })
        #expect(log.events == [.attached, .requested, .progress(1), .newContent(.network)])
        #expect(log.all.last?.progress == nil && item.state.progress == nil)
        #expect(log.all.map(\.version) == Array(0..<UInt64(log.all.count)))
        // The others see the same versions, except those of the progress.
        #expect(ordinary.all.map(\.event) == [.attached, .requested, .newContent(.network)])
        #expect(ordinary.all.map(\.version) == [0, 1, UInt64(log.all.count - 1)])
        withExtendedLifetime((observation, second)) {}
    }

    @Test("Without an observer that requests it, no load is measured, and readers of states are not resumed")
    func unmeasured() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "a"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        var states = item.states(loading: .ifNeeded).makeAsyncIterator()
        #expect(await states.next()?.progress == nil)
        _ = try await fixture.transport.request(number: 1)
        #expect(fixture.clock.sleeperCount == 0)
        #expect(item.state.progress == nil)
        latch.open()
        while let state = await states.next(), state.content == nil { #expect(state.version < 2) }
        #expect(item.state.version == 2)
    }

    @Test("Readers that request progress receive a state for each report, and others see it with the next event")
    func states() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "a"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        var reporting = item.states(loading: .ifNeeded, reportingProgress: true).makeAsyncIterator()
        var ordinary = item.states().makeAsyncIterator()
        var changes = item.changes(reportingProgress: true).makeAsyncIterator()
        #expect(await changes.next()?.event == .attached)
        #expect(await ordinary.next()?.progress == 0)
        _ = try await fixture.transport.request(number: 1)
        await fixture.clock.waitForSleepers(count: 1)
        _ = await reporting.next()
        fixture.clock.advance(by: .milliseconds(50))
        let progress = try #require(await reporting.next()?.progress)
        #expect(progress > 0)
        #expect(await changes.next()?.event == .progress(progress))
        latch.open()
        // It was not resumed by the progress.
        let next = await ordinary.next()
        #expect(next?.content?.name == "a" && next?.progress == nil)
        while let state = await reporting.next(), state.content == nil {}
    }

    enum End: CaseIterable, Sendable { case failure, notModified, cancellation, wipe, deletion }

    @Test("Progress is 1 once before the event that ends a load, for every kind of end", arguments: End.allCases)
    func ends(end: End) async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"), headerFields: [.eTag: "\"1\""])
            .thenAnswer { _ in
                await latch.wait()
                return ScriptedAnswer(end == .failure ? .internalServerError : .notModified)
            }
        fixture.transport.on(.delete, "/v1/item").answer(.noContent)
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        let (log, observation) = log(item, fixture)
        let request = item.startLoad()
        _ = try await fixture.transport.request(number: 2)
        switch end {
        case .failure, .notModified: latch.open()
        case .cancellation: request.cancel()
        case .wipe: item.wipe()
        case .deletion: try await item.delete()
        }
        let failure: RequestFailure?
        do throws(RequestFailure) {
            _ = try await request.content
            failure = nil
        } catch {
            failure = error
        }
        latch.open()
        let last: ResourceEvent
        switch end {
        case .failure: last = .failed(try #require(failure))
        case .notModified: last = .notModified
        case .cancellation: last = .cancelled
        case .wipe: last = .wiped(.requested)
        case .deletion: last = .wiped(.deleted)
        }
        #expect(log.events == [.attached, .requested, .progress(1), last])
        #expect(item.state.progress == nil)
        observation.cancel()
    }

    @Test("An observer that is added after the request was sent sees the progress of the next load")
    func late() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "a"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        let first = item.startLoad()
        _ = try await fixture.transport.request(number: 1)
        let (log, observation) = log(item, fixture)
        #expect(item.isLoading && item.state.progress == nil)
        latch.open()
        _ = try await first.content
        try await item.load()
        #expect(
            log.events == [.attached, .newContent(.network), .requested, .progress(1), .newContent(.network)])
        observation.cancel()
    }

    @Test("An observer that is added later sees the progress of a load if another observer has requested it")
    func joining() async throws {
        let fixture = try ResourceFixture()
        let latch = Latch()
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latch.wait()
            return ScriptedAnswer(json: Item(name: "a"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        let values = Mutex<[Double]>([])
        let request = item.loadRequest().onProgress { value in values.withLock { $0.append(value) } }.start()
        _ = try await fixture.transport.request(number: 1)
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .milliseconds(50))
        await fixture.clock.waitForSleepers(count: 1)
        #expect(item.state.progress == nil)
        let (log, observation) = log(item, fixture)
        let early = try #require(values.withLock { $0.first })
        #expect(log.all.map(\.progress) == [LoadProgress(early).value])
        fixture.clock.advance(by: .milliseconds(50))
        await fixture.clock.waitForSleepers(count: 1)
        #expect(log.reported.count == 1)
        // Without an observer that requests it, there is no progress to see.
        observation.cancel()
        #expect(item.state.progress == nil && item.isLoading)
        latch.open()
        _ = try await request.content
        #expect(values.withLock { $0.last } == 1)
    }

    @Test("An observer that is added while a load reads the caches sees all of its progress")
    func caches() async throws {
        let cache = CacheDouble()
        let (reading, response) = (Latch(), Latch())
        cache.stalls(reading)
        let fixture = try ResourceFixture(cache: cache)
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await response.wait()
            return ScriptedAnswer(json: Item(name: "a"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        let request = item.startLoadIfNeeded()
        await cache.waitForCalls(1)
        let (log, observation) = log(item, fixture)
        #expect(item.state.progress == 0)
        cache.stalls(nil)
        reading.open()
        _ = try await fixture.transport.request(number: 1)
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .milliseconds(50))
        await fixture.clock.waitForSleepers(count: 1)
        #expect(log.reported.count == 1)
        response.open()
        _ = try await request?.content
        #expect(log.events == [.attached, .requested, .progress(1), .newContent(.network)])
        observation.cancel()
    }

    @Test("If two loads are running, the progress is that of the newest")
    func newest() async throws {
        let fixture = try ResourceFixture()
        let latches = [Latch(), Latch()]
        fixture.transport.on(.get, "/v1/item").answer { _ in
            await latches[0].wait()
            return ScriptedAnswer(json: Item(name: "a"))
        }.thenAnswer { _ in
            await latches[1].wait()
            return ScriptedAnswer(json: Item(name: "b"))
        }
        let item: Resource<Item> = fixture.service.resource("item")
        let (log, observation) = log(item, fixture)
        let first = item.startLoad()
        _ = try await fixture.transport.request(number: 1)
        await fixture.clock.waitForSleepers(count: 1)
        fixture.clock.advance(by: .milliseconds(50))
        await fixture.clock.waitForSleepers(count: 1)
        let early = try #require(item.state.progress)
        #expect(early > 0)
        let second = item.startLoad()
        #expect(item.state.progress == 0)
        _ = try await fixture.transport.request(number: 2)
        latches[1].open()
        _ = try await second.content
        #expect(item.isLoading && item.state.progress == early)
        latches[0].open()
        _ = try await first.content
        #expect(
            log.events == [
                .attached, .requested, .requested, .progress(1), .newContent(.network), .progress(1), .superseded,
            ])
        observation.cancel()
    }

    @Test("Concurrent reports never let the progress of a load go back", arguments: [1, 2, 3] as [UInt64])
    func concurrency(seed: UInt64) async throws {
        let fixture = try ResourceFixture()
        let item: Resource<Item> = fixture.service.resource("item")
        let (log, observation) = log(item, fixture)
        let options = LoadOptions(.current, of: item.core, fixture.service, in: fixture.service.adoptEnvironment())
        let run = item.core.beginLoad(options, fixture.service, isStarted: true)
        let isMeasured = run.measurement.decide(isAsked: false)
        #expect(isMeasured)
        await withTaskGroup { group in
            for task in 0..<4 as Range<UInt64> {
                group.addTask {
                    var numbers = SeededNumbers(state: seed &* 10 &+ task)
                    for _ in 0..<500 {
                        item.core.note(progress: Double.random(in: 0..<1, using: &numbers), of: run)
                        if UInt.random(in: 0..<50, using: &numbers) == 0 { item.invalidate() }
                    }
                }
            }
        }
        item.core.cancel(run)
        item.core.note(progress: 0.9, of: run)
        #expect(log.reported == log.reported.sorted() && Set(log.reported).count == log.reported.count)
        #expect(log.reported.last == 1)
        #expect(log.all.map(\.version) == log.all.map(\.version).sorted())
        #expect(log.all.allSatisfy { $0.reported == nil || $0.reported == $0.progress })
        observation.cancel()
    }

    @Test("Progress that waits for a slow observer is replaced by the newest, and no event counts as missed")
    func waiting() throws {
        let fixture = try ResourceFixture()
        let item: Resource<Int> = fixture.service.resource("item")
        let run = Mutex<Load?>(nil)
        let missed = Mutex(0)
        let slow = item.observeSynchronously { change in
            missed.withLock { $0 += change.missed }
            guard case .requested = change.event, let run = run.withLock({ $0 }) else { return }
            for number in 1...3_000 { item.core.note(progress: Double(number) / 4_000, of: run) }
            item.invalidate()
        }
        let (log, observation) = log(item, fixture)
        let options = LoadOptions(.current, of: item.core, fixture.service, in: fixture.service.adoptEnvironment())
        let measured = item.core.changing { state in
            let new = state.beginLoad(options, of: item.core, fixture.service, isStarted: true)
            run.withLock { $0 = new }
            return new
        }
        item.core.cancel(measured)
        #expect(
            log.all.map(\.event) == [
                .attached, .requested, .progress(0.75), .invalidated, .progress(1), .cancelled,
            ])
        #expect(missed.withLock { $0 } == 0)
        slow.cancel()
        observation.cancel()
    }

    @Test("Progress takes no memory in resources or in their lists of observers")
    func layout() throws {
        let (flag, loads) = (\ResourceFacts.isInvalid, \ResourceFacts.loads)
        #expect(MemoryLayout.offset(of: loads) == MemoryLayout.offset(of: flag).map { $0 + 8 })
        #expect(MemoryLayout<ObserverList>.size == 16)
    }
}

@Suite("Progress of a load")
struct LoadProgressTests {
    @Test(
        "Progress in four bytes is rounded down, keeps its order, and is 1 only at the end",
        arguments: [(-1, 0), (0, 0), (0.25, 0.25), (1 - 0x1p-31, 1 - 0x1p-31), (1, 1), (7, 1)])
    func rounding(value: Double, expected: Double) {
        #expect(LoadProgress(value).value == expected)
        #expect(LoadProgress(1.0.nextDown).value.map { $0 < 1 } == true)
        #expect(LoadProgress(.nan).value == 0)
        #expect(LoadProgress.none.value == nil)
    }

    @Test("Whether a load is measured is decided when its request is sent")
    func measurement() {
        // The measurements cannot be copied, so each lies in an object.
        final class Measured: Sendable { let measurement = LoadMeasurement() }
        let (early, late, own) = (Measured(), Measured(), Measured())
        func decide(_ run: Measured, _ isAsked: Bool = false) -> Bool { run.measurement.decide(isAsked: isAsked) }
        func raise(_ run: Measured, _ value: Double) -> Bool { run.measurement.raise(to: LoadProgress(value)) }
        func progress(_ run: Measured) -> Double? { run.measurement.progress.value }
        #expect(progress(early) == nil)
        early.measurement.ask()
        #expect(progress(early) == 0)
        #expect(decide(early))
        #expect(!decide(late))
        late.measurement.ask()
        #expect(progress(late) == nil && !raise(late, 0.5))
        // A second request of the load.
        #expect(!decide(late) && decide(early))
        #expect(decide(own, true))
        #expect(raise(own, 0.5) && !raise(own, 0.5) && !raise(own, 0.25))
        #expect(raise(own, 1) && progress(own) == 1)
    }

    @Test("A gate lets the greatest value through at most once per interval")
    func gate() {
        var gate = ProgressGate(every: .milliseconds(50))
        let offers: [(Double, Duration)] = [
            (0.1, .seconds(1)), (0.2, .milliseconds(1_049)), (0.3, .milliseconds(1_050)), (0.3, .seconds(9)),
            (0.2, .seconds(9)), (0.4, .seconds(9)),
        ]
        #expect(offers.map { gate.passes($0, at: $1) } == [true, false, true, false, false, true])
    }
}
