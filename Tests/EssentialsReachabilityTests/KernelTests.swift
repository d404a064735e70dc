import Glibc
import Testing

@testable import EssentialsReachability

/// Tests the tracker with the kernel, each test in its own network namespace.
@Suite(
    .enabled(if: NetworkNamespace.isAvailable, "needs root, iproute2 and network namespaces"), .timeLimit(.minutes(5)))
struct KernelTests {
    private static func unreachable(_ code: Int32) -> ReachabilityStatus { .unreachable(RouteError(code: code)) }

    @Test("Loopback addresses are local while the loopback interface is up", arguments: ["127.0.0.1", "::1"])
    func loopback(host: String) async throws {
        let network = try await NetworkNamespace()
        let tracker = try await network.tracker(host)
        #expect(tracker.status == Self.unreachable(ENETUNREACH))
        try await network.ip("link set lo up")
        #expect(await tracker.reaches(.local))
        try await network.ip("link set lo down")
        let isIPv6 = host.contains(":")
        #expect(await tracker.reaches(Self.unreachable(isIPv6 ? ENETUNREACH : ENETDOWN)))
        tracker.stop()
    }

    @Test("A public address is reachable only with a default route", arguments: ["8.8.8.8", "2001:4860::1"])
    func defaultRoute(host: String) async throws {
        let network = try await NetworkNamespace()
        let interface = try await network.addCable()
        try await network.ip("-6 addr add 2001:db8::1/64 dev v0 nodad")
        let tracker = try await network.tracker(host)
        #expect(tracker.status == Self.unreachable(ENETUNREACH))
        let route = host.contains(":") ? "-6 route %s default via 2001:db8::2" : "route %s default via 10.9.0.2"
        for _ in 0..<3 {
            try await network.ip(route.replacing("%s", with: "add"))
            #expect(await tracker.reaches(.routed(interface)))
            try await network.ip(route.replacing("%s", with: "del"))
            #expect(await tracker.reaches(Self.unreachable(ENETUNREACH)))
        }
        tracker.stop()
    }

    @Test("An interface without a carrier is unreachable, although its route remains")
    func peerDown() async throws {
        let network = try await NetworkNamespace()
        let interface = try await network.addCable()
        try await network.ip("route add default via 10.9.0.2")
        let tracker = try await network.tracker("8.8.8.8")
        #expect(await tracker.reaches(.routed(interface)))
        try await network.ip("link set v1 down")
        #expect(await tracker.reaches(Self.unreachable(ENETDOWN)))
        try await network.ip("route get 8.8.8.8")
        try await network.ip("link set v1 up")
        #expect(await tracker.reaches(.routed(interface)))
        tracker.stop()
    }

    @Test("An interface that is set down loses its routes")
    func adminDown() async throws {
        let network = try await NetworkNamespace()
        let interface = try await network.addCable()
        try await network.ip("route add default via 10.9.0.2")
        let tracker = try await network.tracker("8.8.8.8")
        #expect(await tracker.reaches(.routed(interface)))
        try await network.ip("link set v0 down")
        #expect(await tracker.reaches(Self.unreachable(ENETUNREACH)))
        tracker.stop()
    }

    @Test(
        "Each type of prohibiting route has its own error",
        arguments: [("unreachable", EHOSTUNREACH), ("blackhole", EINVAL), ("prohibit", EACCES)],
        ["8.8.8.8", "2001:4860::1"])
    func forbidding(type: (String, Int32), host: String) async throws {
        let network = try await NetworkNamespace()
        let interface = try await network.addCable()
        try await network.ip(
            "-6 addr add 2001:db8::1/64 dev v0 nodad", "route add default via 10.9.0.2",
            "-6 route add default via 2001:db8::2")
        let tracker = try await network.tracker(host)
        #expect(await tracker.reaches(.routed(interface)))
        let prefix = host.contains(":") ? "2001:4860::/32" : "8.8.0.0/16"
        try await network.ip("route add \(type.0) \(prefix)")
        #expect(await tracker.reaches(Self.unreachable(type.1)))
        try await network.ip("route del \(type.0) \(prefix)")
        #expect(await tracker.reaches(.routed(interface)))
        tracker.stop()
    }

    @Test("A rule can prohibit a route", arguments: ["8.8.8.8", "2001:4860::1"])
    func rule(host: String) async throws {
        let network = try await NetworkNamespace()
        let interface = try await network.addCable()
        try await network.ip(
            "-6 addr add 2001:db8::1/64 dev v0 nodad", "route add default via 10.9.0.2",
            "-6 route add default via 2001:db8::2")
        let tracker = try await network.tracker(host)
        #expect(await tracker.reaches(.routed(interface)))
        let family = host.contains(":") ? "-6" : "-4"
        try await network.ip("\(family) rule add to \(host) prohibit")
        #expect(await tracker.reaches(Self.unreachable(EACCES)))
        try await network.ip("\(family) rule del to \(host) prohibit")
        #expect(await tracker.reaches(.routed(interface)))
        tracker.stop()
    }

    @Test("A route without a gateway to a host or its network is direct")
    func hostRoute() async throws {
        let network = try await NetworkNamespace()
        let interface = try await network.addCable()
        let tracker = try await network.tracker("8.8.8.8")
        #expect(tracker.status == Self.unreachable(ENETUNREACH))
        try await network.ip("route add 8.8.8.8 dev v0")
        #expect(await tracker.reaches(.direct(interface)))
        let neighbour = try await network.tracker("10.9.0.77")
        #expect(await neighbour.reaches(.direct(interface)))
        let own = try await network.tracker("10.9.0.1")
        #expect(own.status == .local)
        try await network.ip("addr del 10.9.0.1/24 dev v0")
        #expect(await own.reaches(Self.unreachable(ENETUNREACH)))
        for tracker in [tracker, neighbour, own] { tracker.stop() }
    }

    @Test("An IPv4 host behind an IPv6 gateway is routed")
    func via() async throws {
        let network = try await NetworkNamespace()
        let interface = try await network.addCable()
        let tracker = try await network.tracker("8.8.8.8")
        try await network.ip("route add 8.8.0.0/16 via inet6 fe80::1 dev v0")
        #expect(await tracker.reaches(.routed(interface)))
        tracker.stop()
    }

    @Test("A tunnel that no program serves is unreachable")
    func tunnel() async throws {
        let network = try await NetworkNamespace()
        let tracker = try await network.tracker("10.8.0.2")
        try await network.ip(
            "tuntap add dev t0 mode tun", "addr add 10.8.0.1/24 dev t0", "link set t0 up")
        #expect(await tracker.reaches(Self.unreachable(ENETDOWN)))
        tracker.stop()
    }

    @Test(
        "An IPv6 address makes its network reachable, with and without duplicate address detection",
        arguments: ["", " nodad"])
    func addressIPv6(option: String) async throws {
        let network = try await NetworkNamespace()
        let interface = try await network.addCable()
        let tracker = try await network.tracker("2001:db8::9")
        let own = try await network.tracker("2001:db8::1")
        #expect(tracker.status == Self.unreachable(ENETUNREACH))
        try await network.ip("-6 addr add 2001:db8::1/64 dev v0" + option)
        #expect(await tracker.reaches(.direct(interface)))
        #expect(await own.reaches(.local))
        for tracker in [tracker, own] { tracker.stop() }
    }

    @Test("A link-local address uses the interface of its zone")
    func zone() async throws {
        let network = try await NetworkNamespace()
        let interface = try await network.addCable()
        let tracker = try await network.tracker("fe80::77%v0")
        #expect(await tracker.reaches(.direct(interface)))
        try await network.ip("link set v1 down")
        #expect(await tracker.reaches(Self.unreachable(ENETDOWN)))
        tracker.stop()
    }

    @Test("A tracker stays in the network namespace in which it was created")
    func stays() async throws {
        let (network, other) = (try await NetworkNamespace(), try await NetworkNamespace())
        let tracker = try await network.tracker("127.0.0.1")
        let second = try await other.tracker("127.0.0.1")
        try await other.ip("link set lo up")
        #expect(await second.reaches(.local))
        #expect(tracker.status == Self.unreachable(ENETUNREACH))
        let outside = try ReachabilityTracker(host: "127.0.0.1")
        #expect(outside.status == .local)
        try await network.ip("link set lo up")
        #expect(await tracker.reaches(.local))
        for tracker in [tracker, second, outside] { tracker.stop() }
    }

    @Test("Two hundred trackers that are created and released leave no socket open")
    func leaks() async throws {
        let network = try await NetworkNamespace()
        let before = await sockets(network)
        for round in 0..<200 {
            let tracker = try await network.tracker(round % 2 == 0 ? "127.0.0.1" : "::1")
            if round % 50 == 0 {
                #expect(await settle(network, at: Sockets(netlink: before.netlink + 2, unix: before.unix + 2)))
            }
            tracker.stop()
        }
        #expect(await settle(network, at: before))
    }

    /// Waits for a number of sockets. A process that another test starts holds copies of all descriptors until it
    /// executes its program.
    private func settle(_ network: NetworkNamespace, at expected: Sockets) async -> Bool {
        while await sockets(network) != expected {
            if Task.isCancelled { return false }
            await Task.yield()
        }
        return true
    }

    private struct Sockets: Equatable, Sendable {
        var netlink: Int
        var unix: Int
    }

    /// The sockets in one network namespace. Those of other tests are in other namespaces.
    private func sockets(_ network: NetworkNamespace) async -> Sockets {
        await network.run {
            let counts = ["netlink", "unix"].map { Self.lines(of: "/proc/thread-self/net/" + $0) }
            return Sockets(netlink: counts[0], unix: counts[1])
        }
    }

    private static func lines(of path: String) -> Int {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return -1 }
        defer { close(file) }
        var count = 0
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let size = read(file, &buffer, buffer.count)
            guard size > 0 else { return count }
            count += buffer.prefix(size).count { $0 == UInt8(ascii: "\n") }
        }
    }

    // MARK: The socket

    @Test("An overrun of the socket is reported as a change, and the next lookup works")
    func overrun() async throws {
        let network = try await NetworkNamespace()
        try await network.ip("link set lo up")
        let events = try await network.run { Result { () throws(ReachabilityError) in try KernelEvents() } }.get()
        defer { events.close() }
        var size: Int32 = 1
        setsockopt(events.descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        for host in 1...40 { try await network.ip("route add 10.1.0.\(host) dev lo") }
        var received: [NetlinkSocket.Received] = []
        while received.last != .nothing { received.append(events.socket.receive()) }
        #expect(received.contains(.overrun))
        for host in 1...40 { try await network.ip("route del 10.1.0.\(host) dev lo") }
        #expect(events.drain() == .changed)
        #expect(events.drain() == .none)
        try await network.ip("route add 10.1.0.1 dev lo")
        #expect(events.drain() == .changed)
    }

    @Test("A message from another process is dropped")
    func foreign() async throws {
        let network = try await NetworkNamespace()
        let events = try await network.run { Result { () throws(ReachabilityError) in try KernelEvents() } }.get()
        let sender = try await network.run {
            Result { () throws(ReachabilityError) in try NetlinkSocket(groups: 0) }
        }.get()
        defer {
            events.close()
            sender.close()
        }
        var address = [UInt8](repeating: 0, count: 12)
        var size = socklen_t(address.count)
        let code = address.withUnsafeMutableBytes { bytes in
            getsockname(events.descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
        }
        #expect(code == 0)
        address.replaceSubrange(8..<12, with: [0, 0, 0, 0])
        let message = RecordedMessages.eventRoute
        let send = {
            address.withUnsafeBytes { bytes in
                sendto(
                    sender.descriptor, message, message.count, 0,
                    bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), size)
            }
        }
        #expect(send() == message.count)
        #expect(events.drain() == .none)
        #expect(send() == message.count)
        #expect(events.socket.receive() == .foreign)
    }
}
