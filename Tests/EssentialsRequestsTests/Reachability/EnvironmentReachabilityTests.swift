import EssentialsReachability
import EssentialsRequests
import EssentialsTestKit
import Synchronization
import Testing

@Suite("The reachability of an environment")
struct EnvironmentReachabilityTests {
    private func environment(_ host: String) -> String { "http://\(host):1/" }

    @Test("is that of its host, at once and after each change, for whoever asks")
    func follows() async throws {
        let environment = try ControlledEnvironment(environment("127.0.0.1"))
        let reachability = try EnvironmentReachability(environment)
        #expect(reachability.status == .local)
        #expect(reachability.isReachable())
        var statuses = reachability.statuses.makeAsyncIterator()
        #expect(await statuses.next() == .local)
        // An address that is never routed: refused by every kernel (RFC 1122, 3.2.1.3).
        try environment.set(baseURL: self.environment("0.0.0.1"))
        let other = try #require(await statuses.next())
        #expect(other != .local)
        try environment.set(baseURL: self.environment("127.0.0.2"))
        #expect(await statuses.next() == .local)
        reachability.stop()
        #expect(reachability.status == .unknown)
    }

    @Test("does not change with what is not the host")
    func sameHost() async throws {
        let environment = try ControlledEnvironment(environment("127.0.0.1"))
        let reachability = try EnvironmentReachability(environment)
        var statuses = reachability.statuses.makeAsyncIterator()
        #expect(await statuses.next() == .local)
        try environment.set(baseURL: "http://127.0.0.1:2/other/")
        reachability.stop()
        reachability.stop()
        // Whatever comes after the first is the end.
        while let status = await statuses.next() { #expect(status != .local) }
    }

    @Test("can be a double's, that says what it is told")
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
