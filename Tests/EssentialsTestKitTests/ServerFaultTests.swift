import EssentialsTestKit
import EssentialsTools
import Testing

@Suite struct ServerFaultTests {
    private let get = "GET / HTTP/1.1\r\n\r\n"

    /// The text that a client receives for these steps, and the end of its connection.
    private func outcome(_ steps: [ServerStep]) throws -> (text: String, end: SocketClient.End) {
        let server = try LoopbackServer { _ in .raw(steps) }
        defer { server.stop() }
        let client = try SocketClient(port: server.port)
        client.send(get)
        return client.receiveAll()
    }

    @Test func `Raw steps end with an orderly close by default`() throws {
        #expect(try outcome([.text("ab")]) == ("ab", .orderly))
        #expect(try outcome([.text("ab"), .close, .text("never")]) == ("ab", .orderly))
        #expect(try outcome([.text("ab"), .closeWithoutNotify]) == ("ab", .orderly))
        #expect(try outcome([.reset]) == ("", .reset))
        #expect(try outcome([]) == ("", .orderly))
    }

    @Test func `A close is orderly even if the client has sent more bytes`() throws {
        let server = try LoopbackServer { _ in .raw([.text("x"), .close]) }
        defer { server.stop() }
        let client = try SocketClient(port: server.port)
        client.send(get + get + get)
        #expect(client.receiveAll() == ("x", .orderly))
    }

    @Test func `Repeated bytes arrive completely`() throws {
        let (text, end) = try outcome([.repeatSend(Array("abc".utf8), count: 100_000)])
        #expect(end == .orderly)
        #expect(text == String(repeating: "abc", count: 100_000))
    }

    @Test func `Raw steps can keep the connection open`() throws {
        let server = try LoopbackServer { _ in
            .raw([.head(headers: [("Content-Length", "1")]), .pause(.milliseconds(1)), .text("a"), .keepAlive])
        }
        defer { server.stop() }
        let client = try SocketClient(port: server.port)
        #expect(try client.exchange(get).text == "a")
        #expect(try client.exchange(get).text == "a")
    }

    @Test func `The chunk helpers produce chunked framing`() throws {
        let (text, _) = try outcome([.chunk(Array(repeating: 0x61, count: 17)), .chunk([]), .lastChunk()])
        #expect(text == "11\r\n\(String(repeating: "a", count: 17))\r\n0\r\n\r\n")
    }

    @Test func `A gate delays a reply until it is opened`() async throws {
        let gate = LoopbackGate()
        let arrived = LoopbackGate()
        let server = try LoopbackServer { _ in
            arrived.open()
            return .raw([.gate(gate), .text("after")])
        }
        defer { server.stop() }
        let client = try SocketClient(port: server.port)
        client.send(get)
        await arrived.opened()
        #expect(!gate.isOpen)
        #expect(gate.wait(timeout: .milliseconds(1)) == false)
        gate.open()
        gate.open()
        #expect(client.receiveAll() == ("after", .orderly))
        #expect(gate.wait())
    }

    @Test func `Cancelling a task ends its wait for a gate`() async {
        let gate = LoopbackGate()
        let task = Task { await gate.opened() }
        task.cancel()
        await task.value
        #expect(!gate.isOpen)
    }

    @Test func `The server detects that the client has closed`() throws {
        let server = try LoopbackServer { _ in .raw([.waitForPeerClose, .close]) }
        defer { server.stop() }
        var client: SocketClient? = try SocketClient(port: server.port)
        client?.send(get + "more")
        #expect(becomesTrue { server.requestCount == 1 })
        #expect(server.openConnectionCount == 1)
        client = nil
        #expect(becomesTrue { server.openConnectionCount == 0 })
        #expect(server.applicationBytesReceived == 22)
    }

    @Test func `Steps can run before a connection's first bytes`() throws {
        let options = ServerOptions(onAccept: { connection in
            switch connection {
            case 0: [.close]
            case 1: [.reset]
            case 2: [.text("SSH-2.0-x\r\n")]
            case 3: [.pause(.milliseconds(1)), .keepAlive]
            default: []
            }
        })
        let server = try LoopbackServer(options: options) { _ in .response(body: "ok") }
        defer { server.stop() }
        #expect(try SocketClient(port: server.port).receiveAll() == ("", .orderly))
        #expect(try SocketClient(port: server.port).receiveAll() == ("", .reset))
        #expect(try SocketClient(port: server.port).receiveAll() == ("SSH-2.0-x\r\n", .orderly))
        #expect(try SocketClient(port: server.port).exchange(get).text == "ok")
        #expect(try SocketClient(port: server.port).exchange(get).text == "ok")
        #expect(server.connectionCount == 5)
    }

    @Test func `A reply can end the connection at a chosen request`() throws {
        let server = try LoopbackServer { $0.numberOnConnection == 1 ? .close : .response(body: "ok") }
        defer { server.stop() }
        let client = try SocketClient(port: server.port)
        #expect(try client.exchange(get).text == "ok")
        client.send(get)
        #expect(client.receiveAll() == ("", .orderly))
        #expect(server.requestCount == 2)
    }

    @Test func `A client that leaves during a reply does not end the process`() throws {
        let server = try LoopbackServer { _ in
            .raw([.repeatSend([UInt8](repeating: 0, count: 65_536), count: 100_000)])
        }
        defer { server.stop() }
        var client: SocketClient? = try SocketClient(port: server.port)
        client?.send(get)
        _ = client?.receive()
        client = nil
        #expect(becomesTrue { server.openConnectionCount == 0 })
    }

    // MARK: Stopping

    private static let longSteps: [String: ServerStep] = [
        "hang": .hang, "pause": .pause(.seconds(3600)), "gate": .gate(LoopbackGate()), "wait": .waitForPeerClose,
        "send": .repeatSend([UInt8](repeating: 0, count: 65_536), count: 1_000_000),
    ]

    @Test(arguments: longSteps.keys.sorted())
    func `Stopping interrupts every step`(name: String) throws {
        let step = try #require(Self.longSteps[name])
        let server = try LoopbackServer { _ in .raw([step]) }
        let client = try SocketClient(port: server.port)
        client.send(get)
        #expect(becomesTrue { server.requestCount == 1 })
        let start = ContinuousClock.now
        server.stop()
        #expect(ContinuousClock.now - start < .seconds(30))
        #expect(server.openConnectionCount == 0)
        server.stop()
    }

    @Test func `Stopping closes idle connections and incomplete requests`() throws {
        let server = try LoopbackServer { _ in .response() }
        let idle = try SocketClient(port: server.port)
        let half = try SocketClient(port: server.port)
        half.send("GET / HT")
        #expect(becomesTrue { server.openConnectionCount == 2 && server.applicationBytesReceived == 8 })
        server.stop()
        #expect(idle.receiveAll().end == .orderly)
        #expect(half.receiveAll().end == .orderly)
    }

    @Test func `Releasing a server stops it`() throws {
        var server: LoopbackServer? = try LoopbackServer { _ in .hang }
        let client = try SocketClient(port: server?.port ?? 0)
        client.send(get)
        #expect(becomesTrue { server?.requestCount == 1 })
        server = nil
        #expect(client.receiveAll() == ("", .orderly))
    }

    @Test func `A handler can stop its own server`() throws {
        let box = Mutex<LoopbackServer?>(nil)
        let stopped = LoopbackGate()
        try box.withLock {
            $0 = try LoopbackServer { _ in
                // The last reference may be released here, on a thread of the server.
                let server = box.withLock { $0.take() }
                server?.stop()
                stopped.open()
                return .response()
            }
        }
        let client = try SocketClient(port: box.withLock { $0?.port } ?? 0)
        client.send(get)
        #expect(stopped.wait(timeout: .seconds(5)))
        _ = client.receiveAll()
    }
}
