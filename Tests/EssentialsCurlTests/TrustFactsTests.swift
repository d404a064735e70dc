import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import Testing

@Suite("The recorded trust of a connection")
struct TrustFactsTests {
    private let ours: Authority
    private let server: LoopbackServer

    init() throws {
        ours = try Authority()
        server = try ours.server { _ in .response(body: "ok") }
    }

    private func facts(_ policy: TrustPolicy, recording: Bool = true) async throws -> TrustFacts? {
        let transport = try CurlTransport(trust: policy)
        var sent = try request(server)
        sent.options.recordsTrust = recording
        let facts = try await transport.send(sent).connection.trust
        await transport.shutdown()
        return facts
    }

    @Test("Without pins, the recorded trust has the verified chain, but no rule and no pin")
    func chain() async throws {
        let facts = try #require(try await facts(TrustPolicy(anchors: ours.anchors)))
        #expect(
            facts.chain.map(\.publicKeyPin.text) == [ours.leaf.publicKeyPin, ours.authority.certificate.publicKeyPin])
        #expect(facts.chain.first?.subject == "CN=localhost")
        #expect(facts.chain.allSatisfy { !$0.subject.isEmpty && $0.notAfter > $0.notBefore })
        #expect(facts.pattern == nil)
        #expect(facts.pins == nil)
        #expect(facts.match == nil)
    }

    @Test("Trust is recorded only for requests with that option")
    func unrecorded() async throws {
        #expect(try await facts(TrustPolicy(anchors: ours.anchors), recording: false) == nil)
    }

    @Test(
        "The recorded trust has the first matching pin, its certificate and the rule",
        arguments: [Pin.Scope.any, .leaf, .issuer])
    func match(scope: Pin.Scope) async throws {
        let strange = try strangePin()
        let key = scope == .issuer ? ours.authority.certificate.publicKeyPin : ours.leaf.publicKeyPin
        let pin = try Pin.publicKey(key, scope: scope)
        let policy = try TrustPolicy(
            hosts: [HostRule("**.localhost", pins: PinSet([strange, pin]))], anchors: ours.anchors)
        let facts = try #require(try await facts(policy))
        #expect(facts.pattern?.description == "**.localhost")
        #expect(facts.pins?.pins == [strange, pin])
        #expect(facts.match?.pin == pin)
        #expect(facts.match?.index == (scope == .issuer ? 1 : 0))
        #expect(facts.match?.certificate == facts.chain[scope == .issuer ? 1 : 0])
    }

    @Test("The recorded trust has no match if a rule only reports that its pins are missing")
    func reportOnly() async throws {
        let strange = try Pin(kind: .certificate, digest: [UInt8](repeating: 1, count: 32))
        let policy = try TrustPolicy(
            hosts: [HostRule("localhost", pins: PinSet([strange], mode: .reportOnly))], anchors: ours.anchors)
        let facts = try #require(try await facts(policy))
        #expect(facts.match == nil)
        #expect(facts.pins?.pins == [strange])
        #expect(facts.chain.count == 2)
    }

    @Test("A reused connection has the certificate names of its handshake, if the handshake recorded them")
    func keptConnection() async throws {
        for recordsFirst in [true, false] {
            let transport = try CurlTransport(trust: TrustPolicy(anchors: ours.anchors))
            var sent = try request(server)
            sent.options.recordsTrust = recordsFirst
            _ = try await transport.send(sent)
            sent.options.recordsTrust = true
            let connection = try await transport.send(sent).connection
            await transport.shutdown()
            #expect(connection.isReused)
            #expect(connection.trust?.chain.first?.publicKeyPin.text == ours.leaf.publicKeyPin)
            #expect(connection.trust?.chain.first?.subject == (recordsFirst ? "CN=localhost" : ""))
        }
    }

    @Test("A response over plain http has no recorded trust")
    func plain() async throws {
        let plain = try LoopbackServer { _ in .response() }
        let transport = try CurlTransport(trust: TrustPolicy(anchors: ours.anchors))
        var sent = try request(plain)
        sent.options.recordsTrust = true
        #expect(try await transport.send(sent).connection.trust == nil)
        await transport.shutdown()
    }

    @Test("A match outside the chain is dropped, and equal facts are equal")
    func values() throws {
        let pin = try Pin(kind: .publicKey, digest: [UInt8](repeating: 1, count: 32))
        let certificate = CertificateFacts(
            subject: "CN=a", notBefore: 1, notAfter: 2, certificatePin: pin, publicKeyPin: pin)
        #expect(TrustFacts(chain: [certificate], match: (pin, 1)).match == nil)
        let facts = TrustFacts(chain: [certificate], match: (pin, 0))
        #expect(facts.match?.certificate == certificate)
        #expect(facts == TrustFacts(chain: [certificate], match: (pin, 0)))
        #expect(facts != TrustFacts(chain: [certificate]))
        #expect(Set([facts, TrustFacts(chain: [certificate], match: (pin, 0))]).count == 1)
    }
}
