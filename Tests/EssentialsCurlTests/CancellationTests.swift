import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("Cancelling")
struct CancellationTests {
    @Test("A task that is cancelled before it sends fails as `cancelled` and sends nothing")
    func before() async throws {
        let server = try LoopbackServer { _ in .response() }
        let transport = try CurlTransport()
        let sent = try request(server)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await failure { try await transport.send(sent) }
        }
        #expect(await task.value?.reason == .cancelled)
        #expect(server.requestCount == 0)
    }

    @Test("Cancelling a task that waits for a response fails as `cancelled` and closes the connection")
    func during() async throws {
        let gate = LoopbackGate()
        let server = try silentServer(opening: gate)
        let transport = try CurlTransport()
        let sent = try request(server)
        let task = Task { await failure { try await transport.send(sent) } }
        await gate.opened()
        task.cancel()
        let found = await task.value
        #expect(found?.reason == .cancelled)
        #expect(found?.phase == .waiting)
        while server.openConnectionCount > 0 { try await Task.sleep(for: .milliseconds(2)) }
    }

    @Test("Cancelling a task that reads a stream fails as `cancelled`")
    func reading() async throws {
        let server = try LoopbackServer { _ in
            .raw([.head(headers: [("Content-Length", "10")]), .text("abc"), .waitForPeerClose])
        }
        let transport = try CurlTransport()
        var sent = try request(server)
        sent.options.delivery = .streamed
        let response = try await transport.send(sent)
        let gate = LoopbackGate()
        let task = Task {
            await failure {
                for try await _ in response.body { gate.open() }
            }
        }
        await gate.opened()
        task.cancel()
        #expect(await task.value?.reason == .cancelled)
    }

    @Test("Cancellation at any time ends each of 1,000 requests exactly once and leaves the transport usable")
    func storm() async throws {
        let server = try LoopbackServer { .response(body: $0.target) }
        let transport = try CurlTransport()
        let counts = await withTaskGroup(of: (done: Int, cancelled: Int, other: Int).self) { group in
            for task in 0..<20 {
                group.addTask {
                    var counts = (done: 0, cancelled: 0, other: 0)
                    for number in 0..<50 {
                        let exchange = Task { try await transport.send(request(server, "/\(task)/\(number)")).text }
                        for _ in 0..<((task * 7 + number * 13) % 40) { await Task.yield() }
                        exchange.cancel()
                        switch await exchange.result {
                        case .success(let text): if text == "/\(task)/\(number)" { counts.done += 1 }
                        case .failure(let error as RequestFailure) where error.reason == .cancelled:
                            counts.cancelled += 1
                        case .failure: counts.other += 1
                        }
                    }
                    return counts
                }
            }
            return await group.reduce(into: (done: 0, cancelled: 0, other: 0)) {
                $0 = ($0.done + $1.done, $0.cancelled + $1.cancelled, $0.other + $1.other)
            }
        }
        #expect(counts.other == 0)
        #expect(counts.done + counts.cancelled == 1000)
        #expect(try await transport.send(request(server, "/last")).text == "/last")
    }

    @Test("Cancelling a request does not wait for its handshake")
    func promptness() async throws {
        let gate = LoopbackGate()
        let server = try stalledServer(opening: gate)
        let transport = try CurlTransport()
        var stalled = TransportRequest(.get, try RequestURL("https://localhost:\(server.port)/"))
        stalled.options.connectTimeout = .seconds(300)
        let sent = stalled
        // The task runs on the engine's thread, because waiting for a thread of the tests would also count.
        let task = Task(executorPreference: transport.taskExecutor(for: sent.url.origin)) {
            let found = await failure { try await transport.send(sent) }
            return (found, ContinuousClock.now)
        }
        await gate.opened()
        let start = ContinuousClock.now
        task.cancel()
        let (found, end) = await task.value
        #expect(found?.reason == .cancelled)
        #expect(start.duration(to: end) < .seconds(30))
    }
}

@Suite("Shutting a transport down")
struct ShutdownTests {
    @Test("A shutdown cancels running requests, refuses new ones, and can be repeated")
    func shutdown() async throws {
        let gate = LoopbackGate()
        let server = try silentServer(opening: gate)
        let transport = try CurlTransport()
        let sent = try request(server)
        let task = Task { await failure { try await transport.send(sent) } }
        await gate.opened()
        await transport.shutdown()
        #expect(await task.value?.reason == .cancelled)
        #expect(await failure { try await transport.send(sent) }?.reason == .closed)
        await transport.shutdown()
        async let first: Void = transport.shutdown()
        async let second: Void = transport.shutdown()
        _ = await (first, second)
    }

    @Test("A shutdown ends a stream that is being read")
    func stream() async throws {
        let server = try LoopbackServer { _ in
            .raw([.head(headers: [("Content-Length", "10")]), .text("abc"), .waitForPeerClose])
        }
        let transport = try CurlTransport()
        var sent = try request(server)
        sent.options.delivery = .streamed
        let response = try await transport.send(sent)
        await transport.shutdown()
        #expect(await failure { try await response.body.collect(upTo: 100) }?.reason == .cancelled)
    }

    @Test("A transport ends with its last reference, and a stream that is being read keeps it")
    func dropping() async throws {
        let server = try LoopbackServer { _ in .response(body: "hello") }
        var transport: CurlTransport? = try CurlTransport()
        var sent = try request(server)
        sent.options.delivery = .streamed
        let response = try await transport?.send(sent)
        transport = nil
        #expect(try await response?.body.collect(upTo: 100) == Data("hello".utf8))
        for _ in 0..<50 {
            let other = try CurlTransport()
            #expect(try await other.send(request(server)).text == "hello")
        }
    }

    @Test("A shutdown releases descriptors and threads")
    func resources() async throws {
        let server = try LoopbackServer { _ in .response(body: "x") }
        // Concurrent tests open descriptors too. A leak of one for each transport would still show.
        var leaked = Int.max
        for _ in 0..<5 where leaked >= 100 {
            let before = Self.descriptors()
            for _ in 0..<100 {
                let transport = try CurlTransport()
                _ = try await transport.send(request(server))
                await transport.shutdown()
            }
            leaked = Self.descriptors() - before
        }
        #expect(leaked < 100)
    }

    private static func descriptors() -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }
}
