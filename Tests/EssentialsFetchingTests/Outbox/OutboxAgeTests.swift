import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Outbox: ages and clocks", .timeLimit(.minutes(5)))
struct OutboxAgeTests {
    let fixture: OutboxFixture
    private var transport: ScriptedTransport { fixture.transport }
    private var clock: ManualClock { fixture.clock }
    private static let day = Duration.seconds(24 * 3_600)
    private static let year = 365.0 * 24 * 3_600

    init() throws { fixture = try OutboxFixture() }

    /// Leaves an entry in the directory.
    private func addOne() async throws {
        let outbox = try fixture.outbox()
        outbox.pause()
        try await outbox.add(fixture.view(1))
        await outbox.close()
    }

    private func setClock(by seconds: Double) { clock.date = clock.date.addingTimeInterval(seconds) }

    /// Whether all entries have been given up because of their age.
    private func areGivenUp(_ outbox: Outbox) async throws -> Bool {
        try await outbox.entries.allSatisfy { entry in
            if case .failed(let failure) = entry.state { failure.reason == .timeout && failure.isByAge } else { false }
        }
    }

    @Test("A clock that is set ahead or back gives up no entry", arguments: [Self.year, -Self.year])
    func set(seconds: Double) async throws {
        transport.on(.post, "/v1/views").fail(.connection).thenAnswer(.ok)
        try await addOne()
        setClock(by: seconds)
        // The next process finds it, and the clock is set again while it runs.
        let outbox = try fixture.outbox()
        try await outbox.open()
        await outbox.core.idle()
        #expect(try await outbox.entries.map(\.state) == [.delayed])
        setClock(by: seconds)
        clock.advance(by: .seconds(1))
        try await outbox.drain()
        #expect(transport.requestCount == 2)
        #expect(try await outbox.entries == [])
    }

    @Test("The age counts over restarts of the process by the clock of the machine, regardless of the date")
    func restart() async throws {
        transport.on(.post, "/v1/views").fail(.connection)
        try await addOne()
        clock.advance(by: Self.day * 5)
        setClock(by: -Self.year)
        let outbox = try fixture.outbox()
        try await outbox.drain()
        #expect(try await outbox.entries.map(\.state) == [.delayed])
        clock.advance(by: Self.day * 2)
        while !fixture.kinds.contains("failed") { await Task.yield() }
        await outbox.core.idle()
        #expect(try await areGivenUp(outbox))
    }

    @Test("After a reboot the age counts by the wall clock", arguments: [6, 7])
    func reboot(days: Int) async throws {
        transport.on(.post, "/v1/views").answer(.ok)
        try await addOne()
        clock.advance(by: Self.day * days)
        clock.reboot()
        let outbox = try fixture.outbox()
        try await outbox.drain()
        #expect(transport.requestCount == (days < 7 ? 1 : 0))
        #expect(try await areGivenUp(outbox))
    }

    @Test(
        "A drain under a clock that is a year ahead is undone when the clock is right again", arguments: [false, true])
    func undone(isRestarted: Bool) async throws {
        transport.on(.post, "/v1/views").answer(.ok)
        try await addOne()
        clock.reboot()
        setClock(by: Self.year)
        var outbox = try fixture.outbox()
        try await outbox.drain()
        #expect(try await outbox.entries.count == 1)
        #expect(try await areGivenUp(outbox))
        #expect(fixture.kinds == ["failed", "request"])
        if isRestarted { await outbox.close() }
        setClock(by: -Self.year)
        if isRestarted { outbox = try fixture.outbox() }
        try await outbox.drain()
        #expect(transport.requestCount == 1)
        #expect(fixture.names == ["lock"])
    }

    @Test("An entry that was given up because of a wrong clock is sent automatically when the clock is right again")
    func undoneAlone() async throws {
        transport.on(.post, "/v1/views").answer(.ok)
        try await addOne()
        clock.reboot()
        setClock(by: Self.year)
        let outbox = try fixture.outbox()
        try await outbox.drain()
        #expect(try await areGivenUp(outbox))
        setClock(by: -Self.year)
        clock.advance(by: OutboxMachine.revivalPeriod)
        _ = try await transport.request(number: 1)
        await outbox.core.idle()
        #expect(try await outbox.entries == [])
    }

    @Test("A clock that was behind after a reboot and is corrected gives up no entry")
    func correctedForward() async throws {
        transport.on(.post, "/v1/views").fail(.connection).thenAnswer(.ok)
        try await addOne()
        clock.reboot()
        setClock(by: -Self.year)
        let outbox = try fixture.outbox()
        try await outbox.open()
        await outbox.core.idle()
        setClock(by: 2 * Self.year)
        clock.advance(by: .seconds(1))
        try await outbox.drain()
        #expect(transport.requestCount == 2)
        #expect(try await outbox.entries == [])
    }

    @Test("An entry that a server has refused stays given up, regardless of the clocks")
    func refused() async throws {
        transport.on(.post, "/v1/views").answer(.notFound)
        try await addOne()
        clock.reboot()
        var outbox = try fixture.outbox()
        try await outbox.drain()
        await outbox.close()
        for seconds in [Self.year, -Self.year] {
            setClock(by: seconds)
            outbox = try fixture.outbox()
            try await outbox.drain()
            await outbox.close()
        }
        #expect(transport.requestCount == 1)
        #expect(fixture.kinds == ["failed", "request"])
    }

    @Test("The system's clock knows the start of its machine, and a custom clock does not")
    func system() throws {
        let first = try #require(RequestClock.system.bootTime)
        let second = try #require(RequestClock.system.bootTime)
        #expect(first.boot == second.boot && !first.boot.isEmpty && first.elapsed <= second.elapsed)
        #expect(first.elapsed > .zero)
        #expect(RequestClock(ContinuousClock()).bootTime == nil)
    }
}
