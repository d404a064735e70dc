import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Glibc
import Testing

/// Responses of a name server. Each test runs in its own process.
@Suite("Resolved addresses", .serialized)
struct AddressTests {
    @Test(
        "A resolved address is remembered for its lifetime, or not at all if the lifetime is zero",
        .enabled(if: SilentNameServer.isPossible, "needs the right to mount, for a resolv.conf of its own"))
    func remembered() async throws {
        await #expect(processExitsWith: .success) {
            // Each request uses its own connection, because a reused connection resolves no address.
            let server = try LoopbackServer { _ in .response(headers: [("Connection", "close")], body: "ok") }
            let nameServer = try AnsweringNameServer()
            var usual = CurlTransport.Configuration()
            usual.proxy = .direct
            var forgetful = usual
            forgetful.addressLifetime = .zero
            // The threads of the engine and the resolver inherit the namespace of the thread that makes the transport.
            let transports = try nameServer.isolated {
                [try CurlTransport(configuration: usual), try CurlTransport(configuration: forgetful)]
            }
            let sent = try get("http://names.test:\(server.port)/")
            for (transport, lookups) in zip(transports, [1, 2]) {
                let before = nameServer.lookups
                for _ in 0..<2 { #expect(try await transport.send(sent).text == "ok") }
                #expect(nameServer.lookups - before == lookups)
                await transport.shutdown()
            }
            #expect(server.connectionCount == 4)
        }
    }

    @Test(
        "An IPv4 address is tried after the configured delay if the IPv6 address has not responded",
        .enabled(
            if: SilentNameServer.isPossible && FullListener.isPossible,
            "needs IPv6, and the right to mount, for a resolv.conf of its own"))
    func happyEyeballs() async throws {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer { _ in .response(body: "ok") }
            let silent = try FullListener(port: server.port)
            let nameServer = try AnsweringNameServer(hasIPv6: true)
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .direct
            // Far from libcurl's own 200 ms.
            configuration.happyEyeballsDelay = .milliseconds(700)
            let transport = try nameServer.isolated { try CurlTransport(configuration: configuration) }
            var sent = try get("http://both.test:\(server.port)/")
            sent.options.connectTimeout = .seconds(100)
            let start = ContinuousClock.now
            let response = try await transport.send(sent)
            let elapsed = ContinuousClock.now - start
            #expect(response.text == "ok")
            #expect(response.connection.peerAddress == "127.0.0.1")
            #expect(elapsed >= .milliseconds(650), "\(elapsed)")
            #expect(elapsed < .seconds(30), "\(elapsed)")
            await transport.shutdown()
            withExtendedLifetime(silent) {}
        }
    }
}

/// A listening socket on ::1 with a full backlog, so that a connection to it is neither made nor refused.
private final class FullListener: Sendable {
    struct Failure: Error {
        var code: Int32
    }

    private let descriptors: [Int32]

    static var isPossible: Bool { (try? FullListener(port: 0)) != nil }

    init(port: UInt16) throws {
        let listener = socket(AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 0) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isBound else {
            let code = errno
            close(listener)
            throw Failure(code: code)
        }
        var opened = [listener]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        // A backlog of 0 accepts one connection. The others ensure that it is full.
        for _ in 0..<4 {
            let filler = socket(AF_INET6, kind, 0)
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = connect(filler, $0, size) }
            }
            opened.append(filler)
        }
        descriptors = opened
    }

    deinit { for descriptor in descriptors { close(descriptor) } }
}
