import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@Suite("Repeated requests over HTTP/2", .timeLimit(.minutes(5)))
struct ResendTests {
    /// How a server ends a request without a response.
    enum Refusal: String, CaseIterable, Sendable {
        case refusedStream, goAwayUnprocessed, goAwayProcessed, closedConnection, otherReset

        var end: StreamReply.End {
            switch self {
            case .refusedStream: .reset(.refusedStream)
            case .goAwayUnprocessed: .goAwayUnprocessed
            case .goAwayProcessed: .goAwayProcessed
            case .closedConnection: .close
            case .otherReset: .reset(.internalError)
            }
        }
    }

    @Test(
        "A POST that the server may have processed is never sent twice, on a new connection or a kept one",
        arguments: [Refusal.goAwayProcessed, .closedConnection, .otherReset], [false, true])
    func post(_ refusal: Refusal, _ isKept: Bool) async throws {
        try await TestBench.secure(handler: { request in
            request.path == "/order" ? .unanswered(refusal.end) : .text("warm")
        }) { bench in
            if isKept { try await bench.text("/warm") }
            let body = RequestBody.bytes(Data("one".utf8))
            let failure = try await bench.failure(of: bench.request("/order", method: .post, body: body))
            #expect(failure?.reason == .interrupted)
            #expect(failure?.transmission == .sent)
            #expect(bench.server.record.requests["/order"] == 1)
            #expect(try await bench.text("/warm") == "warm")
        }
    }

    @Test("A streamed body that cannot be read again is never sent twice", arguments: Refusal.allCases)
    func streamedBody(_ refusal: Refusal) async throws {
        try await TestBench.secure(handler: { request in
            request.path == "/order" ? .unanswered(refusal.end) : .text("warm")
        }) { bench in
            try await bench.text("/warm")
            let pieces = AsyncStream<Data> { continuation in
                continuation.yield(Data("one".utf8))
                continuation.finish()
            }
            let body = RequestBody.stream(pieces, length: nil)
            let failure = try await bench.failure(of: bench.request("/order", method: .post, body: body))
            let isUnprocessed = refusal == .refusedStream || refusal == .goAwayUnprocessed
            #expect(failure?.reason == (isUnprocessed ? .notReplayable : .interrupted))
            #expect(failure?.isUnprocessed == isUnprocessed)
            #expect(bench.server.record.requests["/order"] == 1)
        }
    }

    @Test("A GET whose stream was refused is sent a second time")
    func repeatedGet() async throws {
        try await TestBench.secure(handler: { request in
            let isFirst = request.path == "/note" && request.ordinal == 1
            return isFirst ? .unanswered(.reset(.refusedStream)) : .text("answer")
        }) { bench in
            try await bench.text("/warm")
            let response = try await bench.transport.send(bench.request("/note"))
            #expect(response.body.data == Data("answer".utf8))
            #expect(response.metrics.sendings == 2)
            #expect(bench.server.record.requests["/note"] == 2)
        }
    }

    @Test(
        "A GET that the server may have processed is sent at most twice",
        arguments: [Refusal.goAwayProcessed, .closedConnection, .otherReset])
    func getAtMostTwice(_ refusal: Refusal) async throws {
        try await TestBench.secure(handler: { request in
            request.path == "/note" ? .unanswered(refusal.end) : .text("warm")
        }) { bench in
            try await bench.text("/warm")
            let failure = try await bench.failure(of: bench.request("/note"))
            #expect(failure?.reason == .interrupted)
            #expect((1...2).contains(bench.server.record.requests["/note"] ?? 0))
        }
    }

    @Test(
        "A GOAWAY spares the streams that it includes, and the others are sent again",
        arguments: [HTTPRequest.Method.get, .post])
    func goAwaySparesOlderStreams(_ method: HTTPRequest.Method) async throws {
        let older = LoopbackGate()
        let olderRuns = LoopbackGate()
        try await TestBench.secure(handler: { request in
            switch request.path {
            case "/older":
                olderRuns.open()
                return .text("older", after: older)
            case "/refused" where request.ordinal == 1: return .unanswered(.goAwayUnprocessed)
            default: return .text("connection \(request.connection)")
            }
        }) { bench in
            let waiting = Task { try await bench.text("/older") }
            await olderRuns.opened()
            let answer = try await bench.text("/refused", method: method)
            #expect(answer == "connection 1")
            older.open()
            #expect(try await waiting.value == "older")
            #expect(try await bench.text("/later") == "connection 1")
            #expect(bench.server.record.requests == ["/older": 1, "/refused": 2, "/later": 1])
        }
    }

    /// The requests that closed connections have carried.
    private final class CarriedRequests: ConnectionObserver {
        let count = Mutex(0)

        func observe(_ event: ConnectionEvent) {
            if case .closed(_, let served) = event.kind { count.withLock { $0 += served } }
        }
    }

    @Test("Every sending of a request counts for the connection that carried it", arguments: [1, 2, 3])
    func carried(seed: Int) async throws {
        try await TestBench.secure(handler: { request in
            let number = Int(request.path.dropFirst()) ?? 0
            guard request.ordinal == 1, number % 4 == seed else { return .text("ok") }
            return .unanswered(number % 8 < 4 ? .reset(.refusedStream) : .goAwayUnprocessed)
        }) { bench in
            let carried = CarriedRequests()
            var configuration = CurlTransport.Configuration()
            configuration.connectionObservers = [carried]
            configuration.streamsPerConnection = 8
            let policy = try TrustPolicy(anchors: TestIdentity.shared().anchors())
            let transport = try CurlTransport(trust: policy, configuration: configuration)
            let sendings = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<60 {
                    let request = try bench.request("/\(number)")
                    group.addTask { try await transport.send(request).metrics.sendings }
                }
                return try await group.reduce(0, +)
            }
            let load = await transport.load
            #expect(sendings > 60 && load.origins.allSatisfy { $0.active == 0 })
            await transport.shutdown()
            #expect(carried.count.withLock { $0 } == sendings)
        }
    }
}
