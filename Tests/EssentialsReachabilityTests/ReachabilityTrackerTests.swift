import Dispatch
import EssentialsTools
import Glibc
import Testing

@testable import EssentialsReachability

@Suite(.timeLimit(.minutes(5))) struct ReachabilityTrackerTests {
    private static let interface = NetworkInterface(name: "eth0", index: 2, kind: .ethernet)
    private let routed = ReachabilityStatus.routed(interface)
    private let direct = ReachabilityStatus.direct(interface)
    private let down = ReachabilityStatus.unreachable(RouteError(code: ENETDOWN))

    private func tracker(
        _ host: String, _ network: ScriptedNetwork, _ options: ReachabilityOptions = ReachabilityOptions()
    ) throws -> ReachabilityTracker {
        try ReachabilityTracker(ReachabilityTarget(host), options: options, events: network, routes: network)
    }

    @Test("The status of an address is known when the tracker is created, and its changes are published")
    func address() async throws {
        let network = try ScriptedNetwork(routed)
        let tracker = try tracker("192.0.2.1", network)
        #expect(tracker.status == routed)
        #expect(await tracker.settledStatus() == routed)
        var statuses = tracker.statuses.makeAsyncIterator()
        #expect(await statuses.next() == routed)
        network.change(to: down)
        #expect(await statuses.next() == down)
        #expect(!tracker.isReachable())
        network.tell(.changed)
        network.change(to: direct)
        #expect(await statuses.next() == direct)
        #expect(!tracker.isReachable(ReachabilityPreference(excluding: [.ethernet])))
        #expect(tracker.isReachable())
        tracker.stop()
        #expect(await statuses.next() == nil)
        #expect(tracker.status == .unknown)
        #expect(network.closeCount == 2)
    }

    @Test("A name is unknown until it is resolved and then has the status of its best address")
    func name() async throws {
        let network = try ScriptedNetwork(down)
        let addresses = ["192.0.2.1", "2001:db8::1", "192.0.2.2"].compactMap { NetworkAddress($0) }
        network.change(to: routed, of: addresses[1])
        let resolver = ScriptedResolver()
        let tracker = try tracker("a.example", network, ReachabilityOptions(resolver: resolver))
        #expect(tracker.status == .unknown)
        #expect(tracker.isReachable())
        async let settled = tracker.settledStatus()
        await resolver.answer(addresses)
        #expect(await settled == routed)
        #expect(network.lookups.allSatisfy { $0 == addresses })
        #expect(await resolver.names == ["a.example"])
        var statuses = tracker.statuses.makeAsyncIterator()
        #expect(await statuses.next() == routed)
        network.change(to: direct, of: addresses[2])
        #expect(await statuses.next() == direct)
        tracker.stop()
    }

    @Test("A name that is not resolved stays unknown and is resolved after a change, but not before the pause ends")
    func unresolved() async throws {
        let network = try ScriptedNetwork(routed)
        let clock = StandingClock()
        let resolver = ScriptedResolver([nil])
        let tracker = try tracker("a.example", network, ReachabilityOptions(resolver: resolver, clock: clock))
        #expect(await tracker.settledStatus() == .unknown)
        await clock.waitForSleepers(1)
        await resolver.answer([try #require(NetworkAddress("192.0.2.1"))])
        tracker.refresh()
        tracker.refresh()
        #expect(tracker.status == .unknown)
        var statuses = tracker.statuses.makeAsyncIterator()
        #expect(await statuses.next() == .unknown)
        clock.advance(by: .seconds(1))
        // The refresh can come after the pause. In both cases the name is resolved now.
        #expect(await statuses.next() == routed)
        tracker.stop()
        await clock.waitForSleepers(0)
    }

    @Test("A name is resolved again when a route becomes available")
    func again() async throws {
        let network = try ScriptedNetwork(down)
        let clock = StandingClock()
        let (old, new) = (try #require(NetworkAddress("192.0.2.1")), try #require(NetworkAddress("192.0.2.2")))
        let resolver = ScriptedResolver([[old], [new]])
        let tracker = try tracker("a.example", network, ReachabilityOptions(resolver: resolver, clock: clock))
        #expect(await tracker.settledStatus() == down)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        await clock.waitForSleepers(0)
        var statuses = tracker.statuses.makeAsyncIterator()
        #expect(await statuses.next() == down)
        network.change(to: direct, of: new)
        network.change(to: routed, of: old)
        #expect(await statuses.next() == routed)
        #expect(await statuses.next() == direct)
        #expect(await resolver.names == ["a.example", "a.example"])
        tracker.stop()
    }

    @Test("With a debounce, a change that is reverted is not published, and one that lasts is")
    func debounce() async throws {
        let network = try ScriptedNetwork(routed)
        let clock = StandingClock()
        let options = ReachabilityOptions(debounce: .milliseconds(200), clock: clock)
        let tracker = try tracker("192.0.2.1", network, options)
        var statuses = tracker.statuses.makeAsyncIterator()
        #expect(await statuses.next() == routed)
        network.change(to: down)
        await clock.waitForSleepers(1)
        #expect(tracker.status == routed)
        network.change(to: routed)
        await clock.waitForSleepers(0)
        clock.advance(by: .seconds(5))
        #expect(tracker.status == routed)
        network.change(to: down)
        await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(199))
        #expect(tracker.status == routed)
        clock.advance(by: .milliseconds(1))
        #expect(await statuses.next() == down)
        tracker.stop()
    }

    @Test("A debounce that exceeds every clock sleeps until the tracker stops")
    func longestDebounce() async throws {
        let network = try ScriptedNetwork(routed)
        let clock = WatchedClock()
        let options = ReachabilityOptions(debounce: .seconds(Int64.max), clock: clock)
        let tracker = try tracker("192.0.2.1", network, options)
        var statuses = tracker.statuses.makeAsyncIterator()
        #expect(await statuses.next() == routed)
        network.change(to: down)
        var sleeps = clock.sleeps.makeAsyncIterator()
        #expect(await sleeps.next() == "begins")
        #expect(tracker.status == routed)
        tracker.stop()
        #expect(await sleeps.next() == "is cancelled")
    }

    @Test("After the event source fails, the status is unknown")
    func deaf() async throws {
        let network = try ScriptedNetwork(routed)
        let tracker = try tracker("192.0.2.1", network)
        var statuses = tracker.statuses.makeAsyncIterator()
        #expect(await statuses.next() == routed)
        network.tell(.lost)
        #expect(await statuses.next() == .unknown)
        tracker.stop()
        #expect(network.closeCount == 2)
    }

    @Test("A tracker stops once, from any number of threads, also during a resolution")
    func stopping() async throws {
        let network = try ScriptedNetwork(routed)
        let tracker = try tracker("a.example", network, ReachabilityOptions(resolver: ScriptedResolver()))
        async let settled = tracker.settledStatus()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    tracker.stop()
                    #expect(network.closeCount == 2)
                }
            }
        }
        #expect(await settled == .unknown)
        tracker.refresh()
        tracker.stop()
        #expect(network.closeCount == 2)
        var statuses = tracker.statuses.makeAsyncIterator()
        #expect(await statuses.next() == .unknown)
        #expect(await statuses.next() == nil)
        #expect(!tracker.observe { _ in }.isActive)
    }

    @Test("A handler can stop the tracker")
    func stopInHandler() async throws {
        let network = try ScriptedNetwork(routed)
        let tracker = try tracker("192.0.2.1", network)
        await withCheckedContinuation { continuation in
            let observation = Mutex<ReachabilityObservation?>(nil)
            let made = tracker.observe { _ in
                tracker.stop()
                observation.withLock { $0 = nil }
                continuation.resume()
            }
            observation.withLock { $0 = made }
        }
        #expect(network.closeCount == 2)
    }

    @Test("A tracker that is released ends its streams and closes its descriptors")
    func dropped() async throws {
        let network = try ScriptedNetwork(routed)
        var tracker: ReachabilityTracker? = try tracker("192.0.2.1", network)
        let statuses = try #require(tracker?.statuses)
        var iterator = statuses.makeAsyncIterator()
        #expect(await iterator.next() == routed)
        tracker = nil
        #expect(await iterator.next() == nil)
        // The thread ends by itself.
        while network.closeCount < 2 { await Task.yield() }
        #expect(network.closeCount == 2)
    }

    @Test("A tracker and a test double both serve as the registered protocol")
    func service() throws {
        final class Double: ReachabilityService {
            var status: ReachabilityStatus { .local }
            var statuses: AsyncStream<ReachabilityStatus> { AsyncStream { $0.finish() } }
            func observe(
                on queue: DispatchQueue?, _ handler: @escaping @Sendable (ReachabilityStatus) -> Void
            ) -> ReachabilityObservation {
                handler(status)
                return ReachabilityObservation {}
            }
        }
        let tracker = try tracker("192.0.2.1", ScriptedNetwork(down))
        let services: [any ReachabilityService] = [tracker, Double()]
        #expect(services.map { $0.isReachable() } == [false, true])
        tracker.stop()
    }

    @Test(
        "The kernel has routes to this machine's own addresses",
        arguments: ["127.0.0.1", "127.9.9.9", "::ffff:127.0.0.1"])
    func kernel(host: String) async throws {
        let tracker = try ReachabilityTracker(host: host)
        #expect(tracker.status == .local)
        tracker.stop()
        #expect(tracker.status == .unknown)
    }

    @Test("A text that is not a host is an error")
    func refused() {
        let error = #expect(throws: ReachabilityError.self) { try ReachabilityTracker(host: "http://a.example") }
        #expect(error?.reason.name == "invalidTarget")
    }
}
