import Dispatch
import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials
import Testing

@Suite("Concurrent ends of a request")
struct TokenRaceTests {
    private static let count = 10_000

    /// The results that handlers received, by request.
    private final class Ends: Sendable {
        private let all: Mutex<[[RequestFailure.Reason?]]>
        let stream = AsyncStream.makeStream(of: Void.self)

        init(_ count: Int) { all = Mutex(Array(repeating: [], count: count)) }

        var told: [[RequestFailure.Reason?]] { all.withLock { $0 } }

        /// The handler of a request; it records `nil` for success.
        func handler<Value>(_ index: Int) -> @Sendable (Result<Value, RequestFailure>) -> Void {
            { result in
                let reason: RequestFailure.Reason? =
                    if case .failure(let failure) = result { failure.reason } else { nil }
                self.all.withLock { $0[index].append(reason) }
                self.stream.continuation.yield()
            }
        }

        func wait(for count: Int) async {
            var ends = stream.stream.makeAsyncIterator()
            for _ in 0..<count { await ends.next() }
        }
    }

    private func service() throws -> HTTPDataRequestService {
        let transport = StubTransport { _ throws(RequestFailure) in
            for _ in 0..<Int.random(in: 0...3) { await Task.yield() }
            if Task.isCancelled { throw RequestFailure(.cancelled, "Cancelled.") }
            return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("[1]".utf8)))
        }
        return HTTPDataRequestService(environment: try ConstantEnvironment("https://h/"), transport: transport)
    }

    private func drain(_ queues: DispatchQueue...) async {
        for queue in queues { await withCheckedContinuation { continuation in queue.async { continuation.resume() } } }
    }

    @Test("A response, two cancellations and a shutdown at the same time end each of 10,000 requests once")
    func everything() async throws {
        let ends = Ends(Self.count)
        let handlers = DispatchQueue(label: "handlers", attributes: .concurrent)
        let (first, second) = (DispatchQueue(label: "first"), DispatchQueue(label: "second"))
        let shutdowns = Mutex<[Task<Void, Never>]>([])
        var service = try service()
        for index in 0..<Self.count {
            let token = service.get(
                "a", deserializeTo: [Int].self, completionQueue: handlers, completion: ends.handler(index))
            if index % 3 != 0 { first.async { token.cancel() } }
            if index % 3 == 2 { second.async { token.cancel() } }
            if index % 100 == 99 {
                let last = service
                // Some of the service's requests have ended, some are running, and some are sent too late.
                shutdowns.withLock {
                    $0.append(Task { await last.shutdown(grace: index % 200 == 99 ? .zero : .seconds(9)) })
                }
                if index % 300 != 299 {
                    service = try self.service()
                } else {
                    // A request begins at once, so those that are sent too late wait for the shutdown.
                    while !last.isClosed { await Task.yield() }
                }
            }
        }
        await ends.wait(for: Self.count)
        for task in shutdowns.withLock({ $0 }) { await task.value }
        await drain(first, second)
        await withCheckedContinuation { continuation in
            handlers.async(flags: .barrier) { continuation.resume() }
        }
        let told = ends.told
        #expect(told.allSatisfy { $0.count == 1 })
        let reasons = Set(told.compactMap { $0.first })
        // All three outcomes must occur, otherwise there was no race.
        #expect(reasons == [nil, .cancelled, .closed])
        await service.shutdown()
    }

    @Test(
        "A handler is called at most once, and never after a silent cancellation, in 10,000 requests"
    )
    func silently() async throws {
        let service = try service()
        let ends = Ends(Self.count)
        let serial = DispatchQueue(label: "handlers")
        let late = Mutex(0)
        let silent = Mutex(0)
        for index in 0..<Self.count {
            let handler: @Sendable (Result<[Int], RequestFailure>) -> Void = ends.handler(index)
            let flag = Flag()
            let token = service.get("a", deserializeTo: [Int].self, completionQueue: serial) { result in
                if flag.isSet { late.withLock { $0 += 1 } }
                handler(result)
            }
            serial.async {
                token.cancel(silently: true)
                guard token.isCancelled else { return }
                flag.set()
                silent.withLock { $0 += 1 }
                ends.stream.continuation.yield()
            }
        }
        await ends.wait(for: Self.count)
        await service.shutdown()
        await drain(serial)
        #expect(late.withLock { $0 } == 0)
        let told = ends.told
        #expect(told.allSatisfy { $0.isEmpty || $0 == [nil] })
        #expect(told.count { $0.isEmpty } == silent.withLock { $0 })
    }

    @Test("A cancelled task and its response end each of 10,000 requests once, with one of both outcomes")
    func tasks() async throws {
        let service = try service()
        let (ends, end) = AsyncStream.makeStream(of: RequestFailure.Reason?.self)
        for index in 0..<Self.count {
            let task = Task {
                do throws(RequestFailure) {
                    _ = try await service.get("a", as: [Int].self)
                    end.yield(nil)
                } catch {
                    end.yield(error.reason)
                }
            }
            if index % 2 == 0 { task.cancel() } else { Task { task.cancel() } }
        }
        var reasons: [RequestFailure.Reason?: Int] = [:]
        var iterator = ends.makeAsyncIterator()
        for _ in 0..<Self.count {
            if let reason = await iterator.next() { reasons[reason, default: 0] += 1 }
        }
        #expect(Set(reasons.keys).isSubset(of: [nil, .cancelled]))
        #expect(reasons.values.reduce(0, +) == Self.count)
        #expect(service.requestsInFlight == 0)
    }
}

/// A flag that is set once and can be read from any thread.
private final class Flag: Sendable {
    private let state = Mutex(false)
    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
}
