import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("Streams that share a connection", .timeLimit(.minutes(5)))
struct SharingTests {
    @Test("Fifty concurrent requests share one connection")
    func burst() async throws {
        let all = Countdown(50)
        try await TestBench.secure(handler: { request in
            all.arrive()
            return .text(request.path, after: all.gate)
        }) { bench in
            let answers = try await bench.bodies(of: (0..<50).map { try bench.request("/\($0)") })
            #expect(answers == (0..<50).map { "/\($0)" })
            #expect(bench.server.record.connectionCount == 1)
            #expect(bench.server.record.maximumConcurrency == 50)
            #expect(bench.server.record.requests.values.allSatisfy { $0 == 1 })
        }
    }

    @Test("A shared connection is active while it carries any request, and counts them all")
    func load() async throws {
        let (held, gate) = (Countdown(3), LoopbackGate())
        try await TestBench.secure(handler: { request in
            guard request.path == "/held" else { return .text("ok") }
            held.arrive()
            return .text("held", after: gate)
        }) { bench in
            let (slow, quick) = (try bench.request("/held"), try bench.request("/"))
            _ = try await bench.transport.send(quick)
            let running = Task { try await bench.bodies(of: [slow, slow, slow]) }
            for _ in 0..<4 { _ = try await bench.transport.send(quick) }
            await held.gate.opened()
            var load = try #require(await bench.transport.load.origins.first)
            #expect(load.active == 1 && load.idle == 0 && load.served == 8, "\(load)")
            gate.open()
            #expect(try await running.value == ["held", "held", "held"])
            while await bench.transport.load.inFlight > 0 { await Task.yield() }
            load = try #require(await bench.transport.load.origins.first)
            #expect(load.active == 0 && load.idle == 1 && load.served == 8, "\(load)")
            #expect(await bench.transport.load.opened == 1)
        }
    }

    @Test("A request leaves none of its settings to later requests of another kind")
    func kinds() async throws {
        let gate = LoopbackGate()
        try await TestBench.secure(handler: { request in
            request.path == "/held" ? .text("held", after: gate) : .text(request.path)
        }) { bench in
            async let held = bench.transport.send(bench.request("/held"))
            for number in 0..<10 {
                let collected = try await bench.transport.send(bench.request("/collected"))
                #expect(collected.body.data == Data("/collected".utf8), "request \(number)")
                let streamed = try await bench.transport.send(
                    bench.request("/streamed") { $0.delivery = .streamed })
                #expect(try await streamed.body.collect(upTo: 100) == Data("/streamed".utf8), "request \(number)")
                let plain = try await bench.transport.send(
                    bench.request("/plain") { ($0.delivery, $0.decompresses) = (.streamed, false) })
                #expect(try await plain.body.collect(upTo: 100) == Data("/plain".utf8), "request \(number)")
            }
            gate.open()
            #expect(try await held.body.data == Data("held".utf8))
        }
    }

    @Test("Sequential requests share one connection")
    func sequence() async throws {
        try await TestBench.secure(handler: { .text($0.path) }) { bench in
            let first = try await bench.transport.send(bench.request("/1"))
            let second = try await bench.transport.send(bench.request("/2"))
            #expect(!first.connection.isReused)
            #expect(second.connection.isReused)
            #expect(second.metrics.sendings == 1)
            #expect(bench.server.record.connectionCount == 1)
        }
    }

    @Test("A burst shares the HTTP/2 connection although an HTTP/1.1 connection is kept too")
    func burstBesideHTTP1() async throws {
        let all = Countdown(20)
        try await TestBench.secure(handler: { request in
            guard request.path != "/first" else { return .text("first") }
            all.arrive()
            return .text(request.path, after: all.gate)
        }) { bench in
            let old = try await bench.transport.send(bench.request("/first") { $0.protocolVersion = .http1 })
            #expect(old.connection.protocolName == "HTTP/1.1")
            let new = try await bench.transport.send(bench.request("/first") { $0.protocolVersion = .http2 })
            #expect(new.connection.protocolName == "HTTP/2")
            let answers = try await bench.bodies(of: (0..<20).map { try bench.request("/\($0)") })
            #expect(answers == (0..<20).map { "/\($0)" })
            #expect(bench.server.record.protocols == ["http/1.1", "h2"])
        }
    }

    @Test("A burst shares one HTTP/2 connection after an HTTP/1.1 connection has closed")
    func burstAfterHTTP1() async throws {
        let all = Countdown(20)
        try await TestBench.secure(handler: { request in
            guard request.path != "/old" else { return .text("old", headers: ["connection": "close"]) }
            all.arrive()
            return .text(request.path, after: all.gate)
        }) { bench in
            let old = try await bench.transport.send(bench.request("/old") { $0.protocolVersion = .http1 })
            #expect(old.connection.protocolName == "HTTP/1.1")
            let answers = try await bench.bodies(of: (0..<20).map { try bench.request("/\($0)") })
            #expect(answers == (0..<20).map { "/\($0)" })
            #expect(bench.server.record.protocols == ["http/1.1", "h2"])
        }
    }

    @Test("A connection never has more streams than the server allows")
    func streamLimit() async throws {
        var options = HTTP2Server.Options()
        options.maximumStreams = 4
        try await TestBench.secure(options, handler: { .text($0.path) }) { bench in
            try await bench.text("/first")
            let answers = try await bench.bodies(of: (0..<40).map { try bench.request("/\($0)") })
            #expect(answers == (0..<40).map { "/\($0)" })
            #expect(bench.server.record.maximumConcurrency <= 4)
            #expect(bench.server.record.requests.values.allSatisfy { $0 == 1 })
        }
    }

    @Test("Responses arrive in the order in which the server sends them")
    func outOfOrder() async throws {
        let second = LoopbackGate()
        try await TestBench.secure(handler: { request in
            request.path == "/slow" ? .text("slow", after: second) : .text("quick")
        }) { bench in
            try await bench.text("/quick")
            let slow = Task { try await bench.text("/slow") }
            let quick = try await bench.text("/quick")
            #expect(quick == "quick")
            second.open()
            #expect(try await slow.value == "slow")
            #expect(bench.server.record.connectionCount == 1)
        }
    }

    @Test("A shutdown cancels streams that wait")
    func shutdown() async throws {
        let all = Countdown(5)
        try await TestBench.secure(handler: { _ in
            all.arrive()
            return .unanswered(.never)
        }) { bench in
            let tasks = try (0..<5).map { number in
                let request = try bench.request("/\(number)")
                return Task { await bench.failure(of: request) }
            }
            await all.gate.opened()
            await bench.transport.shutdown()
            for task in tasks { #expect(await task.value?.reason == .cancelled) }
        }
    }
}
