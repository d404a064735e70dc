import Dispatch
import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials
import Glibc
import Testing

@Suite("Completion handlers")
struct HandlerQueueTests {
    /// Reads a body piece by piece, like a network transport.
    private static func reading(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
        if case .stream(_, _, let open) = request.body.content {
            let source = open()
            while let piece = try? await source(), !piece.isEmpty { await Task.yield() }
        }
        return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data()))
    }

    @Test("Handlers keep their order and never overlap, even on a concurrent queue")
    func concurrentQueue() async throws {
        let service = try ServiceFixture(StubTransport(Self.reading)).service
        let concurrent = DispatchQueue(label: "app", attributes: .concurrent)
        let running = Mutex(0)
        let overlaps = Mutex(0)
        let events = Mutex<[String]>([])
        @Sendable func called(_ event: String) {
            let others = running.withLock { running in
                running += 1
                return running - 1
            }
            if others > 0 { overlaps.withLock { $0 += 1 } }
            // Blocks at least until the next handler is due.
            while service.requestsInFlight > 0 { sched_yield() }
            for _ in 0..<500 { sched_yield() }
            events.withLock { $0.append(event) }
            running.withLock { $0 -= 1 }
        }
        for _ in 0..<50 {
            events.withLock { $0 = [] }
            await withCheckedContinuation { continuation in
                service.send(
                    DataRequest(.put, "a", body: .data(Data(count: 200_000))), completionQueue: concurrent,
                    progress: { called("\($0.bytes)") },
                    completion: { result in
                        called((try? result.get().status.code).map { "end \($0)" } ?? "failed")
                        continuation.resume()
                    })
            }
            let seen = events.withLock { $0 }
            #expect(seen.count > 1)
            #expect(seen.suffix(2) == ["200000", "end 200"])
            let bytes = seen.dropLast().compactMap { Int($0) }
            #expect(bytes == bytes.sorted())
        }
        #expect(overlaps.withLock { $0 } == 0)
    }

    @Test("Handlers are called when the request no longer counts as running")
    func cleanUp() async throws {
        let fixture = try ServiceFixture()
        let service = fixture.service
        for _ in 0..<100 {
            let left = await withCheckedContinuation { continuation in
                service.get("a") { _ in continuation.resume(returning: service.requestsInFlight) }
            }
            #expect(left == 0)
        }
    }

    @Test("Handlers are not called by a token that outlives its service")
    func tokenOutlivesService() async throws {
        var fixture: ServiceFixture? = try ServiceFixture()
        let tokens = Mutex<CancellableToken?>(nil)
        let result = await withCheckedContinuation { continuation in
            let token = fixture?.service.get("a") { continuation.resume(returning: $0) }
            tokens.withLock { $0 = token }
        }
        #expect(try result.get().status == .ok)
        fixture = nil
        let token = try #require(tokens.withLock { $0 })
        token.cancel()
        token.cancel(silently: true)
        #expect(token.state == .finished)
    }

    @Test("Handlers without a queue do not run on the main queue")
    func standardQueue() {
        let configuration = HTTPDataRequestService.Configuration()
        #expect(configuration.callbackQueue !== DispatchQueue.main)
        #expect(configuration.callbackQueue !== HTTPDataRequestService.Configuration().callbackQueue)
    }
}
