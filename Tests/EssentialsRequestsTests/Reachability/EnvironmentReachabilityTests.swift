import Dispatch
import EssentialsHTTP
import EssentialsReachability
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import Testing

@Suite("Environment reachability")
struct EnvironmentReachabilityTests {
    private func environment(_ host: String) -> String { "http://\(host):1/" }

    @Test("The reachability of an environment follows its host, at once and after each change, for every observer")
    func follows() async throws {
        let environment = try MutableEnvironment(environment("127.0.0.1"))
        let reachability = try EnvironmentReachability(environment)
        #expect(reachability.status == .local)
        #expect(reachability.isReachable())
        var statuses = reachability.statuses.makeAsyncIterator()
        #expect(await statuses.next() == .local)
        // Every kernel refuses to route this address (RFC 1122, section 3.2.1.3).
        try environment.set(baseURL: self.environment("0.0.0.1"))
        let other = try #require(await statuses.next())
        #expect(other != .local)
        try environment.set(baseURL: self.environment("127.0.0.2"))
        #expect(await statuses.next() == .local)
        reachability.stop()
        #expect(reachability.status == .unknown)
    }

    @Test("The reachability of an environment does not change if the host stays the same")
    func sameHost() async throws {
        let asked = Mutex<[String]>([])
        let gate = LoopbackGate()
        let names = Names { name in
            asked.withLock { $0.append(name) }
            if name != "one.test" { await gate.opened() }
            return "127.0.0.1"
        }
        let same = try EnvironmentSnapshot(baseURL: RequestURL("https://ONE.test:2/b/"), headerFields: [.accept: "a"])
        let other = try EnvironmentSnapshot(baseURL: RequestURL("http://two.test/"))
        let script = ScriptedEnvironment(try RequestURL("http://one.test:1/"), changes: [same, other])
        let reachability = try EnvironmentReachability(script, options: ReachabilityOptions(resolver: names))
        let seen = Mutex<[ReachabilityStatus]>([])
        let queue = DispatchQueue(label: "test")
        let observation = reachability.observe(on: queue) { status in seen.withLock { $0.append(status) } }
        func told() async -> [ReachabilityStatus] {
            await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: seen.withLock { $0 }) }
            }
        }
        while await told().last != .local { await Task.yield() }
        let before = await told()
        #expect(before.last == .local)
        script.proceed()
        // The tracker requests the next change after it has handled this one. A name is unknown until it is resolved,
        // so a tracker that had started anew would be noticed.
        await script.follows(1)
        #expect(await told() == before)
        #expect(asked.withLock { $0 } == ["one.test"])
        script.proceed()
        await script.follows(2)
        #expect(await told() == before + [.unknown])
        gate.open()
        while await told().last != .local { await Task.yield() }
        #expect(await told() == before + [.unknown, .local])
        #expect(asked.withLock { $0 } == ["one.test", "two.test"])
        observation.cancel()
        reachability.stop()
        reachability.stop()
    }

    @Test("The reachability of an environment can come from a double")
    func double() async {
        let reachability = ControlledReachability()
        let seen = Mutex<[ReachabilityStatus]>([])
        var statuses = reachability.statuses.makeAsyncIterator()
        #expect(await statuses.next() == .unknown)
        let observation = reachability.observe { status in seen.withLock { $0.append(status) } }
        reachability.set(.unreachable(.noRoute))
        #expect(await statuses.next()?.isReachable() == false)
        #expect(!reachability.isReachable())
        let phone = NetworkInterface(name: "wwan0", index: 3, kind: .wwan)
        reachability.set(.routed(phone))
        #expect(await statuses.next() == .routed(phone))
        #expect(reachability.isReachable())
        #expect(!reachability.isReachable(.withoutMobileData))
        observation.cancel()
        #expect(!observation.isActive)
        let told: Set<ReachabilityStatus> = [.unknown, .unreachable(.noRoute), .routed(phone)]
        #expect(seen.withLock { told.isSuperset(of: $0) })
    }
}

/// A resolver made of a closure.
private struct Names: AddressResolver {
    let address: @Sendable (String) async -> String
    func addresses(of name: String) async throws -> [NetworkAddress] {
        [NetworkAddress(await address(name))].compactMap { $0 }
    }
}

/// An environment that changes on demand and knows when a change has been handled.
private final class ScriptedEnvironment: EnvironmentService {
    let baseURL: RequestURL
    private let script: Mutex<[EnvironmentSnapshot]>
    private let gates = AsyncStream.makeStream(of: Void.self)
    private let asked = AsyncStream.makeStream(of: Void.self)
    private let askedBefore = Mutex(0)

    init(_ baseURL: RequestURL, changes: [EnvironmentSnapshot]) {
        self.baseURL = baseURL
        script = Mutex(changes)
    }

    var changes: AsyncStream<EnvironmentSnapshot> {
        let (gate, asked) = (gates.stream, asked.continuation)
        return AsyncStream { [weak self] in
            asked.yield()
            var opened = gate.makeAsyncIterator()
            guard await opened.next() != nil else { return nil }
            return self?.script.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }
    }

    /// Delivers one more change.
    func proceed() { gates.continuation.yield() }

    /// Waits until this many changes have been handled.
    func follows(_ count: Int) async {
        var asked = asked.stream.makeAsyncIterator()
        while askedBefore.withLock({ $0 }) < count + 1 {
            await asked.next()
            askedBefore.withLock { $0 += 1 }
        }
    }
}
