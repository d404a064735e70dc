import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("The transport's queue")
struct QueueTests {
    private func transport(perOrigin: Int = 2, queue: Int = 100) throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.connectionsPerOrigin = perOrigin
        configuration.queueLimit = queue
        return try CurlTransport(configuration: configuration)
    }

    /// A server that responds once the gate is open.
    private func server(behind gate: LoopbackGate) throws -> LoopbackServer {
        try LoopbackServer { _ in
            gate.wait(timeout: .seconds(60))
            return .response(body: "ok")
        }
    }

    /// Waits until this number of requests are waiting.
    private func waitUntil(_ transport: CurlTransport, waiting count: Int) async throws {
        for _ in 0..<2_000 {
            if await transport.load.waiting == count { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("there were never \(count) waiting: \(await transport.load)")
    }

    @Test("An origin has no more connections than its limit, and every request is served")
    func limit() async throws {
        let server = try LoopbackServer { _ in
            .raw([.pause(.milliseconds(5)), .text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .keepAlive])
        }
        let transport = try transport(perOrigin: 3)
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<40 { group.addTask { try await transport.send(request(server)).text } }
            for try await text in group { #expect(text == "ok") }
        }
        #expect(server.requestCount == 40)
        #expect(server.connectionCount <= 3)
        let load = await transport.load
        #expect(load.inFlight == 0 && load.waiting == 0 && load.origins.allSatisfy { $0.active + $0.waiting == 0 })
        await transport.shutdown()
    }

    @Test("The load has the number and time of waiting requests, and each response has its own time")
    func load() async throws {
        let gate = LoopbackGate()
        let server = try server(behind: gate)
        let transport = try transport(perOrigin: 1)
        async let first = transport.send(request(server))
        async let second = transport.send(request(server))
        try await waitUntil(transport, waiting: 1)
        try await Task.sleep(for: .milliseconds(30))
        let load = await transport.load
        #expect(load.inFlight == 1 && load.waiting == 1)
        #expect(load.longestWait >= .milliseconds(20))
        gate.open()
        let waits = try await [first.metrics.queued, second.metrics.queued].sorted()
        #expect(waits[0] < waits[1])
        #expect(waits[1] >= .milliseconds(20))
        await transport.shutdown()
    }

    @Test("A request that would make the queue too long is refused with the queue's length")
    func full() async throws {
        let gate = LoopbackGate()
        let server = try server(behind: gate)
        let transport = try transport(perOrigin: 1, queue: 2)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 { group.addTask { _ = try await transport.send(request(server)) } }
            try await waitUntil(transport, waiting: 2)
            let refused = await failure { try await transport.send(request(server)) }
            #expect(refused?.reason == .queueFull)
            #expect(refused?.phase == .queue)
            #expect(refused?.message == "The queue of requests for connections is full, with 2 waiting.")
            gate.open()
            try await group.waitForAll()
        }
        #expect(server.requestCount == 3)
        await transport.shutdown()
    }

    @Test("A request that is cancelled in the queue is never sent")
    func cancelled() async throws {
        let gate = LoopbackGate()
        let server = try server(behind: gate)
        let transport = try transport(perOrigin: 1)
        async let first = transport.send(request(server))
        #expect(try await eventually { await transport.load.inFlight == 1 })
        let second = Task { await failure { try await transport.send(request(server)) } }
        try await waitUntil(transport, waiting: 1)
        second.cancel()
        let found = await second.value
        #expect(found?.reason == .cancelled)
        #expect(found?.phase == .queue)
        #expect(await transport.load.waiting == 0)
        gate.open()
        #expect(try await first.text == "ok")
        #expect(server.requestCount == 1)
        await transport.shutdown()
    }

    @Test(
        "A request that waits too long for its turn, or in total, fails",
        arguments: [(Duration.milliseconds(80), nil), (nil, Duration.milliseconds(80))] as [(Duration?, Duration?)])
    func overdue(queueTimeout: Duration?, totalTimeout: Duration?) async throws {
        let gate = LoopbackGate()
        let server = try server(behind: gate)
        let transport = try transport(perOrigin: 1)
        async let first = transport.send(request(server))
        while await transport.load.inFlight == 0 { await Task.yield() }
        var late = try request(server)
        late.options.queueTimeout = queueTimeout
        late.options.totalTimeout = totalTimeout
        let found = await failure { try await transport.send(late) }
        #expect(found?.reason == .timeout)
        #expect(found?.phase == .queue)
        gate.open()
        _ = try await first
        #expect(server.requestCount == 1)
        await transport.shutdown()
    }

    @Test("A queue for one origin does not delay another origin")
    func origins() async throws {
        let gate = LoopbackGate()
        let slow = try server(behind: gate)
        let quick = try LoopbackServer { _ in .response(body: "quick") }
        let transport = try transport(perOrigin: 1)
        async let first = transport.send(request(slow))
        async let second = transport.send(request(slow))
        try await waitUntil(transport, waiting: 1)
        #expect(try await transport.send(request(quick)).text == "quick")
        gate.open()
        _ = try await (first, second)
        await transport.shutdown()
    }

    @Test("A shutdown empties the queue, and with a grace period all requests finish first", arguments: [false, true])
    func shutdown(hasGrace: Bool) async throws {
        let gate = LoopbackGate()
        let server = try server(behind: gate)
        let transport = try transport(perOrigin: 1)
        let sent = (0..<3).map { _ in
            Task { () -> RequestFailure.Reason? in
                await failure { try await transport.send(request(server)) }?.reason
            }
        }
        try await waitUntil(transport, waiting: 2)
        async let over: Void = transport.shutdown(grace: hasGrace ? .seconds(60) : .zero)
        if hasGrace {
            // From the moment of the shutdown on, no new request is accepted.
            var late = try request(server)
            late.options.totalTimeout = .milliseconds(20)
            while await failure(of: { try await transport.send(late) })?.reason != .closed { await Task.yield() }
            gate.open()
        }
        for task in sent { #expect(await task.value == (hasGrace ? nil : .cancelled)) }
        gate.open()
        await over
        #expect(await failure { try await transport.send(request(server)) }?.reason == .closed)
    }

    @Test("Requests that still run at the end of a shutdown's grace period are cancelled")
    func graceEnds() async throws {
        let server = try LoopbackServer { _ in .hang }
        let transport = try transport()
        let sent = Task { await failure { try await transport.send(request(server)) } }
        while await transport.load.inFlight == 0 { await Task.yield() }
        await transport.shutdown(grace: .milliseconds(50))
        #expect(await sent.value?.reason == .cancelled)
    }
}
