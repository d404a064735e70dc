import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTransport
import Testing

@Suite("A link through a proxy", .timeLimit(.minutes(2)))
struct LinkProxyTests {
    @Test("A link goes through the tunnel of an HTTP proxy, also without TLS")
    func proxy() async throws {
        let (server, proxy) = (try EchoServer(), try HTTPTestProxy())
        let rule = try ProxyPolicy.fixed(proxy.proxy())
        let transport = try LinkBench.transport { $0.proxy = rule }
        let receiver = CollectingReceiver()
        let target = try LinkBench.target(server.port, host: "redis.test")
        let link = try await transport.openLink(to: target, receiver: receiver)
        #expect(link.send(Array("hello".utf8)))
        #expect(try await receiver.holds(5))
        #expect(proxy.requests.map(\.line) == ["CONNECT redis.test:\(server.port) HTTP/1.1"])
        await transport.shutdown()
    }
}
