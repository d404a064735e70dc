import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import EssentialsTransport
import Testing

@Suite("The trust of a link", .timeLimit(.minutes(2)))
struct LinkTrustTests {
    /// A link that must not open, and why.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let chain: String
        var host = "pin.test"
        var anchors = "root"
        /// The certificate whose key is the only pin.
        var pinned: String?
        let reason: RequestFailure.Reason
    }

    static let refusals = [
        Refusal(testDescription: "a wrong pin", chain: "leaf", pinned: "rogue-leaf", reason: .pinMismatch),
        Refusal(testDescription: "another host", chain: "leaf", host: "other.test", reason: .trustHost),
        Refusal(testDescription: "an expired certificate", chain: "leaf-expired", reason: .trustChain),
        Refusal(testDescription: "another anchor", chain: "leaf", anchors: "rogue-root", reason: .trustChain),
        Refusal(
            testDescription: "a pinned certificate beside a rogue chain", chain: "rogue-with-pinned-leaf",
            pinned: "leaf", reason: .trustChain),
    ]

    @Test("A link that trust refuses shows the server no byte and no certificate", arguments: refusals)
    func refused(_ refusal: Refusal) async throws {
        let server = try EchoServer(chain: refusal.chain)
        let pin = try refusal.pinned.map { try Fixture.key($0) }
        let anchors = try Fixture.anchors(refusal.anchors)
        let policy =
            try pin.map { try AttackBench.policy([$0], host: refusal.host, anchors: anchors) }
            ?? AttackBench.trusting(anchors)
        let transport = try LinkBench.transport(policy, ports: server.port)
        let receiver = CollectingReceiver()
        let target = try LinkBench.target(server.port, host: refusal.host, isSecure: true)
        let found = await failure { try await transport.openLink(to: target, receiver: receiver) }
        #expect(found?.reason == refusal.reason, "\(String(describing: found))")
        await transport.shutdown()
        #expect(try await eventually { !server.handshakes.isEmpty })
        #expect(server.handshakes.allSatisfy { !$0.succeeded && $0.clientCertificatePEM == nil })
        #expect(server.applicationBytesReceived == 0)
        #expect(receiver.endings.isEmpty)
    }

    @Test("The right server sees the client's certificate, and its pins are checked for each link")
    func trusted() async throws {
        let server = try EchoServer(chain: "leaf")
        let transport = try LinkBench.transport(AttackBench.policy([Fixture.key("leaf")]), ports: server.port)
        let target = try LinkBench.target(server.port, host: "pin.test", isSecure: true)
        for number in 0..<3 {
            let receiver = CollectingReceiver()
            let link = try await transport.openLink(to: target, receiver: receiver)
            link.send(Array("hello".utf8))
            #expect(try await receiver.holds(5))
            #expect(server.handshakes.count == number + 1)
            #expect(server.handshakes.allSatisfy { $0.succeeded && $0.clientCertificatePEM != nil })
            link.close()
        }
        await transport.shutdown()
    }

    @Test("A server that does not speak TLS sees nothing but the beginning of a handshake")
    func plainServer() async throws {
        let seen = Mutex<[UInt8]>([])
        let service = try SocketService { connection in
            let piece = connection.channel.read()
            seen.withLock { $0 += piece }
            connection.channel.write("-ERR Protocol error\r\n")
            let rest = connection.channel.readToEnd()
            seen.withLock { $0 += rest }
        }
        let transport = try LinkBench.transport(AttackBench.policy([Fixture.key("leaf")]), ports: service.port)
        let target = try LinkBench.target(service.port, host: "pin.test", isSecure: true)
        let found = await failure { try await transport.openLink(to: target, receiver: CollectingReceiver()) }
        #expect(found?.reason == .tls)
        await transport.shutdown()
        #expect(try await eventually(within: .seconds(60)) { service.openConnectionCount == 0 })
        // The content types of TLS records: handshake and alert, none of application data.
        let bytes = seen.withLock { $0 }
        #expect(bytes.first == 22)
        #expect(Set(LinkBench.recordTypes(bytes)).isSubset(of: [21, 22]))
    }

    @Test("A server that demands a client's certificate and gets none is named as such", arguments: [false, true])
    func demandsIdentity(isOld: Bool) async throws {
        let certificates = try Fixture.chain("leaf")
        var tls = try ServerTLS(
            certificate: #require(certificates.first), chain: Array(certificates.dropFirst()),
            clientAuthentication: .require(anchor: Fixture.certificate("root")))
        if isOld { tls.maximumVersion = .tls12 }
        let server = try EchoServer(tls: tls)
        let policy = try TrustPolicy(anchors: Fixture.anchors("root"))
        let transport = try LinkBench.transport(policy, ports: server.port)
        let target = try LinkBench.target(server.port, host: "pin.test", isSecure: true)
        let receiver = CollectingReceiver()
        var link: (any ByteLink)?
        let found = await failure { link = try await transport.openLink(to: target, receiver: receiver) }
        // With TLS 1.3 the server refuses after the client's side of the handshake has ended.
        if link != nil { #expect(try await receiver.hasEnded()) }
        let reason = found?.reason ?? receiver.endings.first?.reason
        #expect(reason == .tls, "\(String(describing: found)) \(receiver.endings)")
        #expect((found ?? receiver.endings.first)?.message.contains("asked for a client certificate") == true)
        await transport.shutdown()
    }

    @Test("A host with pins, and a host that the policy does not list, get no link without TLS")
    func plaintext() async throws {
        let server = try EchoServer()
        let transport = try LinkBench.transport(AttackBench.policy([Fixture.key("leaf")]), ports: server.port)
        let pinned = await failure {
            try await transport.openLink(
                to: LinkBench.target(server.port, host: "pin.test"), receiver: CollectingReceiver())
        }
        #expect(pinned?.reason == .plaintextRefused)
        let unlisted = await failure {
            try await transport.openLink(
                to: LinkBench.target(server.port, host: "other.test"), receiver: CollectingReceiver())
        }
        #expect(unlisted?.reason == .hostRefused)
        #expect(server.connectionCount == 0)
        await transport.shutdown()
    }

    @Test("Pins that only report let a link open, and are reported")
    func reportOnly() async throws {
        let server = try EchoServer(chain: "leaf")
        let policy = try AttackBench.policy([Fixture.key("rogue-leaf")], mode: .reportOnly)
        let transport = try LinkBench.transport(policy, ports: server.port)
        var reports = transport.trustReports.makeAsyncIterator()
        let target = try LinkBench.target(server.port, host: "pin.test", isSecure: true)
        let link = try await transport.openLink(to: target, receiver: CollectingReceiver())
        #expect(await reports.next()?.port == server.port)
        link.close()
        await transport.shutdown()
    }
}
