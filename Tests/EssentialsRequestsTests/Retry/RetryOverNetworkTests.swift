import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@Suite("Retries over loopback", .timeLimit(.minutes(5))) struct RetryOverNetworkTests {
    private static let fast: RetryPolicy = {
        var policy = RetryPolicy.attempts(3)
        policy.backoff = .exponential(base: .milliseconds(1), cap: .milliseconds(2))
        return policy
    }()

    private func withService<Value>(
        _ policy: RetryPolicy = fast,
        configured change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in },
        serving handler: @escaping @Sendable (ServerRequest) -> ServerReply,
        _ body: (HTTPDataRequestService, LoopbackServer) async throws -> Value
    ) async throws -> Value {
        var configuration = HTTPDataRequestService.Configuration()
        configuration.retry = policy
        change(&configuration)
        return try await withLoopbackService(configuration, serving: handler, body)
    }

    /// How a server ends an attempt.
    enum Fault: String, CaseIterable, Sendable {
        case unavailable, tooMany, closes, resets, closesInHead, closesInBody, resetsInBody

        var reply: ServerReply {
            switch self {
            case .unavailable: .response(status: 503, headers: [("Retry-After", "0")], body: "later")
            case .tooMany:
                .response(
                    status: 429,
                    headers: [
                        ("Date", "Tue, 01 Jan 2030 00:00:00 GMT"), ("Retry-After", "Tue, 01 Jan 2030 00:00:00 GMT"),
                    ])
            case .closes: .close
            case .resets: .reset
            case .closesInHead: .raw([.text("HTTP/1.1 200 OK\r\nContent-Le"), .close])
            case .closesInBody: .raw([.head(headers: [("Content-Length", "10")]), .text("ab"), .close])
            case .resetsInBody: .raw([.head(headers: [("Content-Length", "10")]), .text("ab"), .reset])
            }
        }
    }

    @Test("A GET is retried after each fault of a server", arguments: Fault.allCases)
    func get(_ fault: Fault) async throws {
        try await withService(serving: { request in
            request.number == 0 ? fault.reply : .response(body: "done")
        }) { service, server in
            let response = try await service.send(DataRequest(.get, "a"))
            #expect(response.body.data == Data("done".utf8))
            #expect(response.attempts == 2)
            #expect(server.requestCount == 2)
        }
    }

    @Test("A POST is retried only after a fault that says that it was not processed", arguments: Fault.allCases)
    func post(_ fault: Fault) async throws {
        try await withService(serving: { request in
            request.number == 0 ? fault.reply : .response(body: "done")
        }) { service, server in
            let response = try? await service.send(DataRequest(.post, "a", body: .text("x")))
            #expect(server.requestCount == (fault == .tooMany ? 2 : 1))
            #expect((response != nil) == (fault == .tooMany))
        }
    }

    @Test("A POST to a port without a server is retried, and its failure says that nothing was sent")
    func refusedConnection() async throws {
        let server = try LoopbackServer { _ in .response() }
        let url = server.url
        server.stop()
        var configuration = HTTPDataRequestService.Configuration()
        configuration.retry = Self.fast
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(url), transport: try CurlTransport(), configuration: configuration)
        let failure = await #expect(throws: RequestFailure.self) {
            try await service.send(DataRequest(.post, "a", body: .text("x")))
        }
        #expect((failure?.reason, failure?.transmission, failure?.attempt) == (.connection, .unsent, 3))
        #expect(failure?.earlierFailures.map(\.transmission) == [.unsent, .unsent])
        await service.shutdown()
    }

    @Test("421 and 408 are retried on a new connection, even if another one is open", arguments: [408, 421])
    func freshConnection(_ status: Int) async throws {
        try await withService(serving: { request in
            request.path == "/a" && request.number == 1 ? .response(status: status) : .response(body: "done")
        }) { service, server in
            _ = try await service.send(DataRequest(.get, "warm"))
            _ = try await service.send(DataRequest(.get, "a"))
            #expect(server.requests.map(\.connection) == [0, 0, 1])
        }
    }

    @Test("The body of a refusal is read to its end, so that the next attempt uses its connection")
    func reuse() async throws {
        let long = [UInt8](repeating: 0x61, count: 40_000)
        try await withService(serving: { request in
            request.number == 0 ? .response(status: 503, body: long) : .response(body: "done")
        }) { service, server in
            _ = try await service.send(DataRequest(.get, "a"))
            #expect(server.requests.map(\.connection) == [0, 0])
        }
    }

    @Test("The endless body of a refusal does not hold the next attempt back for longer than its limit")
    func endlessBody() async throws {
        let chunk = [UInt8](repeating: 0x61, count: 16 << 10)
        try await withService(serving: { request in
            request.number == 0
                ? .raw([
                    .head(status: 503, headers: [("Transfer-Encoding", "chunked")]), .chunk(chunk), .chunk(chunk),
                    .chunk(chunk), .chunk(chunk), .chunk(chunk), .chunk(chunk), .hang,
                ]) : .response(body: "done")
        }) { service, server in
            let response = try await service.send(DataRequest(.get, "a"))
            #expect(response.body.data == Data("done".utf8))
            #expect(server.requests.map(\.connection) == [0, 1])
        }
    }

    @Test("A refusal at the last attempt is the failure, with its body")
    func lastRefusal() async throws {
        try await withService(serving: { _ in .response(status: 503, body: "closed") }) { service, server in
            let failure = await #expect(throws: RequestFailure.self) { try await service.send(DataRequest(.get, "a")) }
            #expect(failure?.response?.body == Data("closed".utf8))
            #expect(server.requestCount == 3)
        }
    }

    @Test("A streamed response is retried before its head and never after it")
    func streamed() async throws {
        var request = DataRequest(.get, "a")
        request.options.delivery = .streamed
        try await withService(serving: { request in
            request.number == 0 ? .close : Fault.closesInBody.reply
        }) { [request] service, server in
            let response = try await service.send(request)
            #expect(response.attempts == 2)
            let failure = await #expect(throws: RequestFailure.self) { _ = try await response.body.collect(upTo: 100) }
            #expect(failure?.reason == .interrupted)
            #expect(server.requestCount == 2)
        }
    }

    @Test("An attempt that exceeds its own time limit is retried")
    func attemptTimeout() async throws {
        var policy = Self.fast
        policy.attemptTimeout = .milliseconds(100)
        try await withService(
            policy,
            serving: { request in
                request.number == 0 ? .hang : .response(body: "done")
            }
        ) { service, _ in
            let response = try await service.send(DataRequest(.get, "a"))
            #expect(response.attempts == 2)
        }
    }

    @Test("A request with a total timeout does not exceed it, however often it is retried")
    func totalTimeout() async throws {
        var policy = RetryPolicy.forever
        policy.attemptTimeout = .milliseconds(20)
        policy.backoff = .exponential(base: .milliseconds(1), cap: .milliseconds(2))
        var request = DataRequest(.get, "a")
        request.options.totalTimeout = .seconds(2)
        try await withService(policy, serving: { _ in .hang }) { [request] service, _ in
            let start = ContinuousClock.now
            let failure = await #expect(throws: RequestFailure.self) { try await service.send(request) }
            #expect(failure?.reason == .timeout)
            #expect((failure?.attempt ?? 0) > 1)
            #expect(ContinuousClock.now - start < .seconds(20))
        }
    }

    @Test("A server that fails at random gets no POST of unknown fate twice and no request more often than allowed")
    func randomFaults() async throws {
        let rounds = Rounds.racing(10_000)
        let seed: UInt64 = 7
        let counts = Mutex<[String: Int]>([:])
        let processed = Mutex<[String: Int]>([:])
        try await withService(
            .attempts(4),
            configured: { configuration in
                configuration.retry.backoff = .exponential(base: .zero)
                configuration.retryBudget.initial = 1e9
                configuration.retryBudget.maximum = 1e9
            },
            serving: { request in
                let count = counts.withLock { counts in
                    counts[request.path, default: 0] += 1
                    return counts[request.path] ?? 0
                }
                var hash = seed
                for byte in request.path.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
                var numbers = SeededNumbers(state: hash &+ UInt64(count))
                let fault =
                    Int.random(in: 0..<3, using: &numbers) == 0 ? Fault.allCases.randomElement(using: &numbers) : nil
                if fault != .tooMany { processed.withLock { $0[request.path, default: 0] += 1 } }
                return fault?.reply ?? .response(body: "done")
            }
        ) { service, _ in
            await withTaskGroup { group in
                for worker in 0..<16 {
                    group.addTask {
                        for number in stride(from: worker, to: rounds, by: 16) {
                            let isPost = number % 2 == 1
                            _ = try? await service.send(
                                DataRequest(
                                    isPost ? .post : .get, "\(isPost ? "post" : "get")/\(number)",
                                    body: isPost ? .text("x") : .none))
                        }
                    }
                }
            }
        }
        let (all, done) = (counts.withLock { $0 }, processed.withLock { $0 })
        #expect(all.count == rounds)
        #expect((2...4).contains(all.filter { $0.key.hasPrefix("/post/") }.values.max() ?? 0), "seed \(seed)")
        // The transport itself repeats a GET once in each attempt if a kept connection is dead.
        #expect((4...8).contains(all.values.max() ?? 0), "seed \(seed)")
        #expect(done.filter { $0.key.hasPrefix("/post/") && $0.value > 1 } == [:], "seed \(seed)")
    }
}
