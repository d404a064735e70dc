import Dispatch
import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import EssentialsTransport
import FoundationEssentials
import Glibc
import TestTools
import Testing

@Suite("A link", .timeLimit(.minutes(5)))
struct LinkTests {
    /// Sends a pattern in pieces of any size, pausing now and then, and compares what comes back.
    private func exchange(_ count: Int, by link: any ByteLink, _ receiver: CollectingReceiver) async throws {
        let pattern = LinkBench.pattern(count)
        var sent = 0
        while sent < count {
            let size = min(count - sent, Int.random(in: 1...(1 << Int.random(in: 1...18))))
            if link.send(Array(pattern[sent..<(sent + size)])) { sent += size } else { await Task.yield() }
            switch Int.random(in: 0..<20) {
            case 0: link.pause()
            case 1...6: link.resume()
            default: break
            }
        }
        link.resume()
        #expect(try await receiver.holds(count))
        #expect(receiver.bytes == pattern)
        #expect(try await eventually(within: .seconds(60)) { link.unsentBytes == 0 })
        #expect(receiver.endings.isEmpty)
    }

    @Test("Bytes come back in order, whatever their pieces and pauses", arguments: [false, true])
    func order(isSecure: Bool) async throws {
        let server = try isSecure ? EchoServer(chain: "leaf") : EchoServer()
        let policy = try isSecure ? AttackBench.policy([Fixture.key("leaf")]) : .system
        let transport = try LinkBench.transport(policy, ports: server.port)
        let receiver = CollectingReceiver()
        var target = try LinkBench.target(
            server.port, host: isSecure ? "pin.test" : "127.0.0.1", isSecure: isSecure)
        target.maximumUnsentBytes = 1 << 20
        let link = try await transport.openLink(to: target, receiver: receiver)
        try await exchange(6 << 20, by: link, receiver)
        #expect(server.handshakes.allSatisfy { $0.applicationProtocol == nil }, "a link offers no protocol of HTTP")
        await transport.shutdown()
    }

    @Test("A link reaches a Unix-domain socket")
    func unixSocket() async throws {
        let path = "/tmp/essentials-link-\(UInt32.random(in: 0 ... .max))"
        let service = try SocketService(.path(path)) { connection in
            connection.channel.write(connection.channel.readAll(5) ?? [])
        }
        defer { try? FileManager.default.removeItem(atPath: path) }
        let transport = try LinkBench.transport { $0.unixSocket = path }
        let receiver = CollectingReceiver()
        let link = try await transport.openLink(to: LinkBench.target(6_379), receiver: receiver)
        #expect(link.send(Array("hello".utf8)))
        #expect(try await receiver.hasEnded())
        #expect(receiver.text == "hello")
        #expect(service.connectionCount == 1)
        await transport.shutdown()
    }

    @Test("Bytes that the peer sends first are received")
    func greeting() async throws {
        let service = try SocketService { connection in
            connection.channel.write("welcome")
            connection.hang()
        }
        let transport = try LinkBench.transport()
        let receiver = CollectingReceiver()
        let link = try await transport.openLink(to: LinkBench.target(service.port), receiver: receiver)
        #expect(try await receiver.holds(7))
        #expect(receiver.text == "welcome")
        link.close()
        await transport.shutdown()
    }

    @Test("A link whose peer closes it at once is returned, and its receiver hears of the end")
    func closedAtOnce() async throws {
        let service = try SocketService { connection in connection.channel.write("-ERR max number of clients reached") }
        let transport = try LinkBench.transport()
        for _ in 0..<Rounds.racing(60) {
            let receiver = CollectingReceiver()
            let link = try await transport.openLink(to: LinkBench.target(service.port), receiver: receiver)
            #expect(try await receiver.hasEnded())
            #expect(receiver.endings.map(\.reason) == [.interrupted])
            #expect(receiver.text == "-ERR max number of clients reached")
            #expect(!link.send([1]))
        }
        await transport.shutdown()
    }

    // MARK: Backpressure

    @Test("What a peer has sent before it closed is read, although sending fails", arguments: [false, true])
    func lastWords(isPaused: Bool) async throws {
        let gate = DispatchSemaphore(value: 0)
        let service = try SocketService { connection in
            gate.wait()
            connection.channel.write("last words")
        }
        let transport = try LinkBench.transport()
        let receiver = CollectingReceiver()
        let link = try await transport.openLink(to: LinkBench.target(service.port), receiver: receiver)
        link.pause()
        // The server closes with unread bytes, so the next bytes are answered by a reset.
        link.send(LinkBench.pattern(1_000))
        gate.signal()
        #expect(try await eventually(within: .seconds(60)) { service.openConnectionCount == 0 })
        if !isPaused { link.resume() }
        for _ in 0..<20 where link.send([1]) { try await Task.sleep(for: .milliseconds(2)) }
        link.resume()
        #expect(try await receiver.hasEnded())
        #expect(receiver.endings.map(\.reason) == [.interrupted])
        #expect(receiver.text == "last words")
        await transport.shutdown()
    }

    @Test("A peer that stops reading makes bytes wait, up to a maximum", arguments: [false, true])
    func slowPeer(isSecure: Bool) async throws {
        let gate = DispatchSemaphore(value: 0)
        let total = Mutex<[UInt8]>([])
        let service = try SocketService { connection in
            gate.wait()
            while true {
                let piece = connection.channel.read()
                guard !piece.isEmpty else { return }
                total.withLock { $0 += piece }
            }
        }
        let certificates = try Fixture.chain("leaf")
        let tls = try ServerTLS(certificate: #require(certificates.first), chain: Array(certificates.dropFirst()))
        let front = try isSecure ? TLSFront(tls, to: service.port) : nil
        let port = front?.port ?? service.port
        let policy = try isSecure ? AttackBench.trusting(Fixture.anchors("root")) : .system
        let transport = try LinkBench.transport(policy, ports: port)
        let receiver = CollectingReceiver()
        var target = try LinkBench.target(port, host: isSecure ? "pin.test" : "127.0.0.1", isSecure: isSecure)
        target.maximumUnsentBytes = 4 << 20
        let link = try await transport.openLink(to: target, receiver: receiver)
        let pattern = LinkBench.pattern(64 << 20)
        var sent = 0
        // The kernel's buffers are filled first, then the link's. A single refusal may come before they are.
        var refusals = 0
        while sent < pattern.count, refusals < 50 {
            let size = min(100_000, pattern.count - sent)
            if link.send(Array(pattern[sent..<(sent + size)])) {
                (sent, refusals) = (sent + size, 0)
            } else {
                refusals += 1
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(link.unsentBytes <= 4 << 20)
        }
        #expect(sent < pattern.count)
        #expect(link.unsentBytes > 3 << 20)
        gate.signal()
        let expected = sent
        #expect(try await eventually(within: .seconds(60)) { total.withLock { $0.count } == expected })
        #expect(total.withLock { $0 } == Array(pattern[..<sent]))
        #expect(try await eventually(within: .seconds(60)) { receiver.sentAll > 0 && link.unsentBytes == 0 })
        link.close()
        await transport.shutdown()
    }

    @Test("A pause stops the peer, and nothing is lost", arguments: [false, true])
    func pause(isSecure: Bool) async throws {
        let written = Atomic<Int>(0)
        let pattern = LinkBench.pattern(32 << 20)
        let service = try SocketService { connection in
            _ = connection.channel.readAll(1)
            for start in stride(from: 0, to: pattern.count, by: 64 << 10) {
                guard connection.channel.write(Array(pattern[start..<(start + 64 << 10)])) else { return }
                written.wrappingAdd(64 << 10, ordering: .relaxed)
            }
            connection.hang()
        }
        let certificates = try Fixture.chain("leaf")
        let tls = try ServerTLS(certificate: #require(certificates.first), chain: Array(certificates.dropFirst()))
        let front = try isSecure ? TLSFront(tls, to: service.port) : nil
        let port = front?.port ?? service.port
        let policy = try isSecure ? AttackBench.trusting(Fixture.anchors("root")) : .system
        let transport = try LinkBench.transport(policy, ports: port)
        let holder = Mutex<(any ByteLink)?>(nil)
        // The receiver itself pauses, in the middle of what has arrived.
        let receiver = CollectingReceiver(onBytes: { holder.withLock { $0?.pause() } })
        let link = try await transport.openLink(
            to: LinkBench.target(port, host: isSecure ? "pin.test" : "127.0.0.1", isSecure: isSecure),
            receiver: receiver)
        holder.withLock { $0 = link }
        link.send([1])
        #expect(try await receiver.holds(1))
        try await Task.sleep(for: .milliseconds(200))
        let held = receiver.count
        #expect(held <= 64 << 10)
        #expect(written.load(ordering: .relaxed) < pattern.count)
        // Each resumption lets one piece in.
        for _ in 0..<20 {
            let before = receiver.count
            link.resume()
            #expect(try await eventually(within: .seconds(60)) { receiver.count > before })
        }
        holder.withLock { $0 = nil }
        link.resume()
        #expect(try await receiver.holds(pattern.count))
        #expect(receiver.bytes == pattern)
        link.close()
        await transport.shutdown()
    }

    @Test("The end of a paused link is seen once it reads again, and does not keep the thread busy")
    func endOfPaused() async throws {
        let gate = DispatchSemaphore(value: 0)
        let service = try SocketService { connection in
            connection.channel.write("last words")
            gate.wait()
        }
        let transport = try LinkBench.transport()
        let holder = Mutex<(any ByteLink)?>(nil)
        let receiver = CollectingReceiver(onBytes: { holder.withLock { $0?.pause() } })
        let link = try await transport.openLink(to: LinkBench.target(service.port), receiver: receiver)
        holder.withLock { $0 = link }
        link.pause()
        gate.signal()
        #expect(try await eventually(within: .seconds(60)) { service.openConnectionCount == 0 })
        try await Task.sleep(for: .milliseconds(50))
        let turns = transport.turns
        try await Task.sleep(for: .milliseconds(200))
        #expect(transport.turns - turns < 20)
        #expect(receiver.endings.isEmpty)
        holder.withLock { $0 = nil }
        link.resume()
        #expect(try await receiver.hasEnded())
        #expect(receiver.text == "last words")
        await transport.shutdown()
    }

    // MARK: Ends

    @Test("A closed link sends and receives nothing more, and its peer sees the end")
    func close() async throws {
        let server = try EchoServer()
        let transport = try LinkBench.transport()
        let receiver = CollectingReceiver()
        let link = try await transport.openLink(to: LinkBench.target(server.port), receiver: receiver)
        #expect(try await eventually(within: .seconds(60)) { server.openConnectionCount == 1 })
        link.close()
        #expect(!link.send([1]))
        #expect(link.unsentBytes == 0)
        #expect(try await eventually(within: .seconds(60)) { server.openConnectionCount == 0 })
        link.close()
        #expect(receiver.endings.isEmpty)
        #expect(receiver.count == 0)
        await transport.shutdown()
    }

    @Test("Releasing a link or its receiver closes it")
    func release() async throws {
        let server = try EchoServer()
        let transport = try LinkBench.transport()
        var receiver: CollectingReceiver? = CollectingReceiver()
        var link: (any ByteLink)? = try await transport.openLink(
            to: LinkBench.target(server.port), receiver: #require(receiver))
        #expect(try await eventually(within: .seconds(60)) { server.openConnectionCount == 1 })
        link = nil
        _ = link
        #expect(try await eventually(within: .seconds(60)) { server.openConnectionCount == 0 })
        let other = try await transport.openLink(to: LinkBench.target(server.port), receiver: #require(receiver))
        #expect(try await eventually(within: .seconds(60)) { server.openConnectionCount == 1 })
        receiver = nil
        // The link notices it with the next byte.
        other.send([1])
        #expect(try await eventually(within: .seconds(60)) { server.openConnectionCount == 0 })
        await transport.shutdown()
    }

    @Test("The end of a peer is reported once, as interrupted", arguments: [false, true])
    func peerCloses(isReset: Bool) async throws {
        let service = try SocketService { connection in
            _ = connection.channel.readAll(1)
            if isReset {
                var option = linger(l_onoff: 1, l_linger: 0)
                setsockopt(
                    connection.channel.descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
            }
        }
        let transport = try LinkBench.transport()
        let receiver = CollectingReceiver()
        let link = try await transport.openLink(to: LinkBench.target(service.port), receiver: receiver)
        link.send([1])
        #expect(try await receiver.hasEnded())
        #expect(receiver.endings.map(\.reason) == [.interrupted])
        #expect(!link.send([1]))
        link.close()
        await transport.shutdown()
        #expect(receiver.endings.count == 1)
    }

    @Test("A shutdown ends open links as closed and opening ones as cancelled, and refuses further ones")
    func shutdown() async throws {
        let gate = LoopbackGate()
        let (server, stalled) = (try EchoServer(), try stalledServer(opening: gate))
        let transport = try LinkBench.transport(ports: stalled.port)
        let receiver = CollectingReceiver()
        let link = try await transport.openLink(to: LinkBench.target(server.port), receiver: receiver)
        let opening = Task {
            await failure {
                try await transport.openLink(
                    to: LinkBench.target(stalled.port, host: "pin.test", isSecure: true), receiver: receiver)
            }
        }
        await gate.opened()
        await transport.shutdown()
        #expect(await opening.value?.reason == .cancelled)
        #expect(receiver.endings.map(\.reason) == [.closed])
        #expect(!link.send([1]))
        let late = await failure {
            try await transport.openLink(to: LinkBench.target(server.port), receiver: receiver)
        }
        #expect(late?.reason == .closed)
    }

    @Test("A task that is cancelled while it opens a link leaves no connection")
    func cancel() async throws {
        let gate = LoopbackGate()
        let stalled = try SocketService { connection in
            gate.open()
            connection.hang()
        }
        let transport = try LinkBench.transport(ports: stalled.port)
        let receiver = CollectingReceiver()
        let opening = Task {
            await failure {
                try await transport.openLink(
                    to: LinkBench.target(stalled.port, host: "pin.test", isSecure: true), receiver: receiver)
            }
        }
        await gate.opened()
        opening.cancel()
        #expect(await opening.value?.reason == .cancelled)
        #expect(try await eventually(within: .seconds(60)) { stalled.openConnectionCount == 0 })
        await transport.shutdown()
    }

    @Test("Links that are opened and cancelled at any moment leave no connection")
    func cancelAnywhere() async throws {
        let server = try EchoServer(chain: "leaf")
        let transport = try LinkBench.transport(AttackBench.policy([Fixture.key("leaf")]), ports: server.port)
        let target = try LinkBench.target(server.port, host: "pin.test", isSecure: true)
        await withTaskGroup { group in
            for number in 0..<Rounds.racing(120) {
                group.addTask {
                    let receiver = CollectingReceiver()
                    let opening = Task { try await transport.openLink(to: target, receiver: receiver) }
                    try? await Task.sleep(for: .microseconds(number * 100))
                    opening.cancel()
                    if let link = try? await opening.value { link.send(Array("hello".utf8)) }
                }
            }
        }
        #expect(try await eventually(within: .seconds(60)) { server.openConnectionCount == 0 })
        let load = await transport.load
        #expect(load.opened == load.closed)
        await transport.shutdown()
    }

    // MARK: Failures

    @Test("A port without a listener and a peer that never responds fail as for requests")
    func unreachable() async throws {
        // A port without a listener.
        let service = try SocketService { _ in }
        let port = service.port
        service.stop()
        let transport = try LinkBench.transport()
        let receiver = CollectingReceiver()
        let refused = await failure {
            try await transport.openLink(to: LinkBench.target(port), receiver: receiver)
        }
        #expect(refused?.reason == .connection)
        let gate = LoopbackGate()
        let stalled = try stalledServer(opening: gate)
        let secure = try LinkBench.transport(ports: stalled.port)
        var target = try LinkBench.target(stalled.port, host: "pin.test", isSecure: true)
        target.connectTimeout = .milliseconds(300)
        let late = await failure { try await secure.openLink(to: target, receiver: receiver) }
        #expect(late?.reason == .timeout)
        #expect(receiver.endings.isEmpty, "the receiver hears of links that were open")
        await transport.shutdown()
        await secure.shutdown()
    }

    @Test("A link outlives the maximum ages of connections, and other links")
    func age() async throws {
        let server = try EchoServer()
        let transport = try LinkBench.transport {
            $0.idleLifetime = .seconds(1)
            $0.connectionLifetime = .seconds(1)
            $0.connectionCacheSize = 0
        }
        let receiver = CollectingReceiver()
        let link = try await transport.openLink(to: LinkBench.target(server.port), receiver: receiver)
        try await Task.sleep(for: .milliseconds(2_200))
        for _ in 0..<3 {
            let other = CollectingReceiver()
            let second = try await transport.openLink(to: LinkBench.target(server.port), receiver: other)
            second.send(Array("second".utf8))
            #expect(try await other.holds(6))
        }
        link.send(Array("first".utf8))
        #expect(try await receiver.holds(5))
        #expect(receiver.endings.isEmpty)
        await transport.shutdown()
    }

    @Test("Links and requests share a transport, while links break at random")
    func storm() async throws {
        let service = try SocketService { connection in
            while true {
                let piece = connection.channel.read(Int.random(in: 1...4_096))
                guard !piece.isEmpty, Int.random(in: 0..<40) > 0, connection.channel.write(piece) else { return }
            }
        }
        let server = try LoopbackServer { _ in .response(body: "ok") }
        let transport = try LinkBench.transport()
        let url = "http://127.0.0.1:\(server.port)/"
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<Rounds.racing(60) {
                        let receiver = CollectingReceiver()
                        guard let target = try? LinkBench.target(service.port),
                            let link = try? await transport.openLink(to: target, receiver: receiver)
                        else {
                            Issue.record("a link could not be opened")
                            return
                        }
                        var expected: [UInt8] = []
                        for _ in 0..<10 {
                            let piece = LinkBench.pattern(Int.random(in: 1...2_000))
                            if link.send(piece) { expected += piece }
                            if Bool.random() { link.pause() }
                            link.resume()
                            await Task.yield()
                        }
                        let sent = expected.count
                        let isOver = try? await eventually(within: .seconds(60)) {
                            receiver.count == sent || !receiver.endings.isEmpty
                        }
                        #expect(isOver == true)
                        #expect(expected.starts(with: receiver.bytes))
                        link.close()
                    }
                }
                group.addTask {
                    for _ in 0..<Rounds.racing(150) {
                        let response = try? await transport.send(get(url))
                        #expect(response?.text == "ok")
                    }
                }
            }
        }
        #expect(try await eventually(within: .seconds(60)) { service.openConnectionCount == 0 })
        await transport.shutdown()
    }
}
