import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@Suite("The connections of a transport as numbers", .timeLimit(.minutes(5)))
struct ConnectionLoadTests {
    /// The events of a transport's connections.
    private final class RecordedConnections: ConnectionObserver {
        let events = Mutex<[ConnectionEvent]>([])

        func observe(_ event: ConnectionEvent) { events.withLock { $0.append(event) } }

        var opened: Int { events.withLock { $0.count { $0.kind == .opened } } }

        /// The numbers of requests that the closed connections have carried.
        var served: [Int] {
            events.withLock { $0.compactMap { if case .closed(_, let served) = $0.kind { served } else { nil } } }
        }
    }

    private let recorded = RecordedConnections()

    private func transport(
        trust: TrustPolicy = .system, _ change: (inout CurlTransport.Configuration) -> Void = { _ in }
    ) throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.connectionObservers = [recorded]
        change(&configuration)
        return try CurlTransport(trust: trust, configuration: configuration)
    }

    @Test(
        "Connections are active while they carry a request, idle afterwards, and each opening and closing is an event")
    func life() async throws {
        let gate = LoopbackGate()
        let server = try LoopbackServer { _ in
            gate.wait(timeout: .seconds(60))
            return .raw([.text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .keepAlive])
        }
        let transport = try transport { $0.connectionsPerOrigin = 3 }
        let requests = Task {
            try await withThrowingTaskGroup { group in
                for _ in 0..<5 { group.addTask { try await transport.send(request(server)).text } }
                for try await text in group { #expect(text == "ok") }
            }
        }
        #expect(try await eventually { await transport.load.origins.first?.active == 3 })
        var load = await transport.load
        #expect(load.opened == 3 && load.closed == 0 && load.origins.count == 1)
        #expect(load.origins[0].origin == (try RequestURL(server.url).origin))
        #expect(load.origins[0].idle == 0 && load.origins[0].served == 3 && load.origins[0].waiting == 2)
        #expect(load.origins[0].longestWait == load.longestWait && load.origins[0].longestWait > .zero)
        gate.open()
        try await requests.value
        #expect(try await transport.send(request(server)).text == "ok")
        #expect(try await eventually { await transport.load.origins.first?.idle == 3 })
        load = await transport.load
        #expect(load.origins[0].active == 0 && load.origins[0].served == 6 && load.origins[0].waiting == 0)
        #expect(load.origins[0].oldest >= .zero)
        #expect(recorded.opened == 3 && recorded.served.isEmpty)
        await transport.shutdown()
        #expect(recorded.opened == 3 && recorded.served.count == 3 && recorded.served.reduce(0, +) == 6)
        #expect(await transport.load == TransportLoad())
        server.stop()
    }

    @Test("A connection that its server closes has one event with its time and its one request")
    func closed() async throws {
        let server = try LoopbackServer { _ in .response(headers: [("Connection", "close")], body: "ok") }
        let transport = try transport()
        for _ in 0..<3 { #expect(try await transport.send(request(server)).text == "ok") }
        #expect(try await eventually { await transport.load.closed == 3 })
        #expect(recorded.served == [1, 1, 1])
        #expect(await transport.load.origins.isEmpty)
        let origins = recorded.events.withLock { Set($0.map(\.origin)) }
        #expect(origins == [try RequestURL(server.url).origin])
        await transport.shutdown()
        server.stop()
    }

    @Test("A server that is refused, and one that cannot be reached, have no connection")
    func refused() async throws {
        let server = try AttackBench.server("leaf")
        let transport = try AttackBench.transport(TrustPolicy(), to: server)
        let found = await failure { try await transport.send(AttackBench.request(server)) }
        #expect(found?.reason == .trustChain)
        #expect(await transport.load.opened == 0)
        await transport.shutdown()
        let other = try self.transport()
        #expect(await failure { try await other.send(get("http://127.0.0.1:1/")) } != nil)
        #expect(await other.load.opened == 0 && recorded.events.withLock { $0.isEmpty })
        await other.shutdown()
    }

    @Test("Whatever happens to requests, the numbers agree with the servers")
    func random() async throws {
        var numbers = SeededNumbers(state: 0x10ad)
        for _ in 0..<4 {
            let recorded = RecordedConnections()
            let servers = try (0..<3).map { _ in
                try LoopbackServer { request in
                    let text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                    switch request.target {
                    case "/slow": return .raw([.pause(.milliseconds(20)), .text(text), .keepAlive])
                    case "/close": return .response(headers: [("Connection", "close")], body: "ok")
                    case "/cut": return .raw([.text("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok")])
                    default: return .raw([.text(text), .keepAlive])
                    }
                }
            }
            var configuration = CurlTransport.Configuration()
            configuration.connectionObservers = [recorded]
            configuration.connectionsPerOrigin = 1 + Int.random(in: 0..<6, using: &numbers)
            configuration.connectionCacheSize = Int.random(in: 0..<8, using: &numbers)
            let transport = try CurlTransport(configuration: configuration)
            await withTaskGroup { group in
                for _ in 0..<120 {
                    let server = servers[Int.random(in: 0..<3, using: &numbers)]
                    let path = ["/", "/", "/slow", "/close", "/cut"][Int.random(in: 0..<5, using: &numbers)]
                    let cancels = Int.random(in: 0..<4, using: &numbers) == 0
                    group.addTask {
                        let task = Task { try await transport.send(request(server, path)) }
                        if cancels { task.cancel() }
                        _ = try? await task.value
                    }
                }
            }
            #expect(try await eventually { await transport.load.origins.allSatisfy { $0.active == 0 } })
            let load = await transport.load
            #expect(load.opened - load.closed == load.origins.reduce(0) { $0 + $1.active + $1.idle })
            #expect(load.inFlight == 0 && load.waiting == 0)
            await transport.shutdown()
            #expect(recorded.opened == load.opened && recorded.served.count == load.opened)
            // A request that is cancelled just when it is sent may not arrive.
            let received = servers.reduce(0) { $0 + $1.requestCount }
            #expect(recorded.served.reduce(0, +) >= received && recorded.served.allSatisfy { $0 > 0 })
            for server in servers { server.stop() }
        }
    }
}
