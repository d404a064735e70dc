import CEssentialsTest
import EssentialsCurl
import EssentialsHTTP
import EssentialsTools
import FoundationEssentials
import Glibc
import Testing

@testable import EssentialsTestKit

/// A proxy in front of a server that passes only a limited number of its bytes.
private final class HoldingRelay: Sendable {
    private final class Rules: Sendable {
        let target: UInt16
        /// One limit for each connection. Later connections are not held.
        let limits: [Int]
        let gates: [LoopbackGate]
        let passed = Mutex(0)

        init(_ target: UInt16, _ limits: [Int]) {
            (self.target, self.limits) = (target, limits)
            gates = limits.map { _ in LoopbackGate() }
        }
    }

    private let rules: Rules
    private let service: SocketService

    init(to target: UInt16, limits: [Int] = []) throws {
        let rules = Rules(target, limits)
        self.rules = rules
        service = try SocketService { Self.serve($0, rules) }
    }

    var port: UInt16 { service.port }
    /// The number of the server's bytes that were passed on.
    var passed: Int { rules.passed.withLock { $0 } }

    /// Waits until a connection is held: its client waits for bytes that do not arrive.
    func held(_ connection: Int) async { await rules.gates[connection].opened() }

    private static func serve(_ connection: SocketService.Connection, _ rules: Rules) {
        guard let target = connection.connect(to: rules.target) else { return }
        defer { target.close() }
        let isHeld = connection.index < rules.limits.count
        var left = isHeld ? rules.limits[connection.index] : Int.max
        let client = connection.channel
        var hasHello = false
        while true {
            if left == 0, hasHello { rules.gates[connection.index].open() }
            var entries = [client, target].map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            guard poll(&entries, left > 0 ? 2 : 1, -1) >= 0 || errno == EINTR else { return }
            if entries[0].revents != 0 {
                let piece = client.read()
                guard !piece.isEmpty, target.write(piece) else { return }
                hasHello = true
            }
            if left > 0, entries[1].revents != 0 {
                let piece = target.read(min(left, 64 << 10))
                guard !piece.isEmpty, client.write(piece) else { return }
                left -= isHeld ? piece.count : 0
                rules.passed.withLock { $0 += piece.count }
            }
        }
    }
}

@Suite("A TLS handshake under a policy", .serialized)
struct HandshakeAttacks {
    static let versions: [ServerTLS.Version] = [.tls12, .tls13]
    private static let depths = 20

    /// A server without tickets, so that all its bytes before the response belong to the handshake.
    private static func server(
        _ version: ServerTLS.Version, handler: @escaping @Sendable (ServerRequest) -> ServerReply
    ) throws -> LoopbackServer {
        try AttackBench.server(
            adjust: {
                ($0.minimumVersion, $0.maximumVersion) = (version, version)
                ($0.resumption, $0.clientAuthentication) = (.never, .request)
            }, handler: handler)
    }

    private static func transport(through port: UInt16, identity: ClientIdentity?) throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .direct
        configuration.addressOverrides = [
            try .init(host: HostName("pin.test"), port: port, address: HostName("127.0.0.1"))
        ]
        let policy = try AttackBench.policy([Fixture.key("leaf"), strangePin()], identity: identity)
        return try CurlTransport(trust: policy, configuration: configuration)
    }

    private static func request(through port: UInt16) throws -> TransportRequest {
        TransportRequest(.post, try RequestURL("https://pin.test:\(port)/"), body: .bytes(Data("secret".utf8)))
    }

    /// The numbers of the server's bytes after which it is held. None of these depths is the end of the handshake.
    private static func limits(_ version: ServerTLS.Version) async throws -> [Int] {
        let box = Mutex<(@Sendable () -> Int)?>(nil)
        let size = Mutex(0)
        let server = try server(version) { _ in
            if let count = box.withLock({ $0 }) { size.withLock { $0 = count() } }
            return .response(body: "ok")
        }
        let relay = try HoldingRelay(to: server.port)
        box.withLock { $0 = { relay.passed } }
        let transport = try transport(through: relay.port, identity: Fixture.identity("client-a"))
        let response = try await transport.send(request(through: relay.port))
        #expect(response.text == "ok")
        await transport.shutdown()
        box.withLock { $0 = nil }
        let whole = size.withLock { $0 }
        try #require(whole > 400)
        return (0..<depths).map { whole * $0 / depths }
    }

    @Test(
        "A handshake is cancelled at any depth without a byte of the request, and the transport still works",
        arguments: versions)
    func cancellation(version: ServerTLS.Version) async throws {
        let limits = try await Self.limits(version)
        let server = try Self.server(version) { _ in .response(body: "ok") }
        let relay = try HoldingRelay(to: server.port, limits: limits)
        let transport = try Self.transport(through: relay.port, identity: Fixture.identity("client-a"))
        let sent = try Self.request(through: relay.port)
        for depth in limits.indices {
            let task = Task { await failure { try await transport.send(sent) } }
            await relay.held(depth)
            task.cancel()
            #expect(await task.value?.reason == .cancelled)
        }
        // The server has received no byte of these requests.
        #expect(server.applicationBytesReceived == 0)
        let response = try await transport.send(sent)
        #expect(response.text == "ok")
        await transport.shutdown()
        try await AttackBench.closed(server)
        #expect(server.requestCount == 1)
        #expect(server.connectionCount == limits.count + 1)
        // Each connection has its own thread, and the last may end first.
        let handshakes = server.handshakes.sorted { $0.connection < $1.connection }
        #expect(handshakes.last?.connection == limits.count)
        #expect(handshakes.last?.succeeded == true)
        #expect(handshakes.allSatisfy { !$0.resumed })
        if version == .tls13 {
            // Under TLS 1.3 the client sends its certificate only after the server's part of the handshake.
            #expect(handshakes.dropLast().allSatisfy { $0.clientCertificatePEM == nil && !$0.succeeded })
        }
    }

    @Test(
        "A handshake ends at any depth with its transport",
        arguments: versions)
    func shutdown(version: ServerTLS.Version) async throws {
        let limits = try await Self.limits(version)
        let server = try Self.server(version) { _ in .response(body: "ok") }
        let relay = try HoldingRelay(to: server.port, limits: limits)
        let sent = try Self.request(through: relay.port)
        for depth in limits.indices {
            let transport = try Self.transport(through: relay.port, identity: Fixture.identity("client-a"))
            let task = Task { await failure { try await transport.send(sent) } }
            await relay.held(depth)
            if depth % 2 == 0 { task.cancel() }
            await transport.shutdown()
            #expect(await task.value?.reason == .cancelled)
        }
        try await AttackBench.closed(server)
        #expect(server.applicationBytesReceived == 0)
        #expect(server.requestCount == 0)
    }

    @Test("Many handshakes under one policy are cancelled at once, at all depths")
    func manyCancellations() async throws {
        let limits = try await Self.limits(.tls13)
        let server = try Self.server(.tls13) { _ in .response(body: "ok") }
        let relay = try HoldingRelay(to: server.port, limits: limits + limits)
        let transport = try Self.transport(through: relay.port, identity: Fixture.identity("client-a"))
        var sent = try Self.request(through: relay.port)
        // Otherwise they wait for the first connection, in case they can share it.
        sent.options.protocolVersion = .http1
        let tasks = (0..<limits.count * 2).map { _ in
            Task { [sent] in await failure { try await transport.send(sent) } }
        }
        for connection in tasks.indices { await relay.held(connection) }
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await task.value?.reason == .cancelled) }
        await transport.shutdown()
        try await AttackBench.closed(server)
        #expect(server.applicationBytesReceived == 0)
    }

    // MARK: Renegotiation

    /// A server under TLS 1.2 that responds to a request by requesting a second handshake with the client's
    /// certificate.
    private final class RenegotiatingServer: Sendable {
        private final class Rules: Sendable {
            let context: TLSContext
            let outcomes = Mutex<[(wentAlong: Bool, certificate: String?)]>([])

            init(_ context: TLSContext) { self.context = context }
        }

        private let rules: Rules
        private let service: SocketService

        init() throws {
            let chain = try Fixture.chain("leaf")
            var tls = ServerTLS(certificate: try #require(chain.first), chain: Array(chain.dropFirst()))
            (tls.minimumVersion, tls.maximumVersion) = (.tls12, .tls12)
            let rules = Rules(try tls.makeContext())
            self.rules = rules
            service = try SocketService { Self.serve($0, rules) }
        }

        var port: UInt16 { service.port }
        var outcomes: [(wentAlong: Bool, certificate: String?)] { rules.outcomes.withLock { $0 } }

        private static func serve(_ connection: SocketService.Connection, _ rules: Rules) {
            PeerClient.blockBrokenPipeSignal()
            guard let tls = cet_tls_create(rules.context.pointer, connection.channel.descriptor) else { return }
            defer { cet_tls_free(tls) }
            var buffer = [UInt8](repeating: 0, count: 4096)
            guard cet_tls_accept(tls), cet_tls_read(tls, &buffer, buffer.count) > 0 else { return }
            let wentAlong = cet_tls_renegotiate(tls, true)
            let certificate = cet_tls_peer_certificate(tls)
            defer { free(certificate) }
            rules.outcomes.withLock { $0.append((wentAlong, certificate.map { String(cString: $0) })) }
            guard wentAlong else { return }
            let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)
            _ = cet_tls_write(tls, answer, answer.count)
            cet_tls_finish(tls)
        }
    }

    @Test("A second handshake on a connection does not happen, and shows no certificate")
    func renegotiation() async throws {
        let server = try RenegotiatingServer()
        let transport = try Self.transport(through: server.port, identity: Fixture.identity("client-a"))
        let found = await failure {
            try await transport.send(TransportRequest(.get, RequestURL("https://pin.test:\(server.port)/")))
        }
        #expect(found?.reason == .tls, "\(String(describing: found))")
        await transport.shutdown()
        #expect(server.outcomes.map(\.wentAlong) == [false])
        #expect(server.outcomes.map(\.certificate) == [nil])
    }
}
