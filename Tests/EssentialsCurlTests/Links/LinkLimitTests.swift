import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTransport
import TestTools
import Testing

@Suite("The limits of links", .timeLimit(.minutes(5)))
struct LinkLimitTests {
    @Test("A sender that was refused hears when nothing waits any more, although the peer takes everything at once")
    func refusedSender() async throws {
        let server = try EchoServer()
        let transport = try LinkBench.transport()
        let receiver = CollectingReceiver()
        var target = try LinkBench.target(server.port)
        target.maximumUnsentBytes = 100
        let link = try await transport.openLink(to: target, receiver: receiver)
        for _ in 0..<Rounds.racing(300) {
            let before = receiver.sentAll
            // The engine may be quicker than this loop, so that nothing is refused.
            guard !(0..<50).allSatisfy({ _ in link.send([UInt8](repeating: 7, count: 60)) }) else { continue }
            #expect(try await eventually(within: .seconds(60)) { receiver.sentAll > before })
        }
        #expect(receiver.sentAll > 0)
        link.close()
        await transport.shutdown()
    }

    @Test("A thread has a maximum number of links, and room again when one of them closes")
    func maximum() async throws {
        let server = try EchoServer()
        let transport = try LinkBench.transport()
        let receiver = CollectingReceiver()
        let target = try LinkBench.target(server.port)
        var links: [any ByteLink] = []
        for _ in 0..<64 { links.append(try await transport.openLink(to: target, receiver: receiver)) }
        let found = await failure { try await transport.openLink(to: target, receiver: receiver) }
        #expect(found?.reason == .queueFull)
        links.removeLast().close()
        links.append(try await transport.openLink(to: target, receiver: receiver))
        #expect(receiver.endings.isEmpty)
        await transport.shutdown()
        #expect(receiver.endings.count == 64)
    }
}
