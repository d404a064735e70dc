import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("Secrets of a transport's objects") struct TransportSecretTests {
    @Test("A dump of a transport and of its policy shows no key, no password and no request's credentials")
    func hidden() async throws {
        let identity = try Fixture.identity("client-a")
        let key = try #require(identity.privateKey.text.split(separator: "\n").dropFirst().first)
        let trust = try CompiledTrust(AttackBench.policy([Fixture.key("leaf")], identity: identity))
        let server = try AttackBench.server()
        var configuration = try AttackBench.configuration(to: [server])
        let proxy = try Proxy("http://user:hunter2-marker@proxy.test:1")
        configuration.proxy = .fixed(proxy, except: ProxyBypass("pin.test"))
        configuration.proxyTrust = try AttackBench.trusting(Fixture.anchors("root"))
        let transport = try CurlTransport(trust: trust, configuration: configuration)
        let transports = CurlTransports(configuration: configuration)
        var sent = try AttackBench.request(server)
        sent.headerFields[.authorization] = "Bearer hunter2-marker"
        sent.options.trust = trust.policy
        let response = try await transport.send(sent)
        var text = ""
        for value in [trust, transport, transports, configuration, sent, response, trust.policy] as [Any] {
            dump(value, to: &text)
            text += String(describing: value) + String(reflecting: value)
        }
        #expect(!text.contains("hunter2-marker"))
        #expect(!text.contains(key))
        await transport.shutdown()
        await transports.shutdown()
    }
}
