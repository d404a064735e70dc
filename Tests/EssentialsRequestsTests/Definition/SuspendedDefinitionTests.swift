import Dispatch
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

private let getNote = APIRequest<Note>(.get, "n")

@Suite("Completion handlers and cancellation of definitions")
struct SuspendedDefinitionTests {
    /// Collects the results of handlers.
    private final class Results: Sendable {
        private let (stream, continuation) = AsyncStream.makeStream(of: Result<Note, RequestFailure>.self)
        private let count = Mutex(0)

        func add(_ result: Result<Note, RequestFailure>) {
            count.withLock { $0 += 1 }
            continuation.yield(result)
        }
        var number: Int { count.withLock { $0 } }
        func next() async -> Result<Note, RequestFailure>? {
            var iterator = stream.makeAsyncIterator()
            return await iterator.next()
        }
    }

    private static let reply: @Sendable (ServerRequest) -> ServerReply = { _ in .json(#"{"id":7,"text":"a"}"#) }

    @Test("A handler receives the model on its queue")
    func handler() async throws {
        try await withServer(Self.reply) { service, _ in
            let queue = DispatchQueue(label: "handlers")
            let key = DispatchSpecificKey<Int>()
            queue.setSpecific(key: key, value: 1)
            let (result, isOnQueue) = await withCheckedContinuation { continuation in
                service.send(getNote, completionQueue: queue) { (result: Result<Note, RequestFailure>) in
                    continuation.resume(returning: (result, DispatchQueue.getSpecific(key: key) == 1))
                }
            }
            #expect((try? result.get()) == Note(id: 7, text: "a"))
            #expect(isOnQueue)
            let both = await withCheckedContinuation { continuation in
                service.response(to: getNote) { (result: Result<ModelResponse<Note>, RequestFailure>) in
                    continuation.resume(returning: result)
                }
            }
            #expect((try? both.get())?.response.head.status == .ok)
            let void = await withCheckedContinuation { continuation in
                service.send(getNote.reading(Void.self)) { (result: Result<Void, RequestFailure>) in
                    continuation.resume(returning: result)
                }
            }
            #expect((try? void.get()) != nil)
        }
    }

    @Test("Without autoResume, nothing is sent until resume, and resuming twice sends once")
    func resume() async throws {
        try await withServer(Self.reply) { service, server in
            let results = Results()
            let token = service.send(getNote, autoResume: false) { (result: Result<Note, RequestFailure>) in
                results.add(result)
            }
            #expect(token.state == .suspended)
            _ = try await service.send(getNote)
            #expect(server.requestCount == 1)
            #expect(results.number == 0)
            token.resume()
            token.resume()
            #expect(try await results.next()?.get() == Note(id: 7, text: "a"))
            token.resume()
            _ = try await service.send(getNote)
            #expect(server.requestCount == 3)
            #expect(results.number == 1)
            #expect(token.isFinished)
        }
    }

    @Test("Cancelling before resume calls the handler with cancelled and sends nothing, even after resume")
    func cancelBeforeResume() async throws {
        try await withServer(Self.reply) { service, server in
            let results = Results()
            let token = service.send(getNote, autoResume: false) { (result: Result<Note, RequestFailure>) in
                results.add(result)
            }
            token.cancel()
            token.cancel()
            token.resume()
            let failure = await #expect(throws: RequestFailure.self) { try await results.next()?.get() }
            #expect(failure?.reason == .cancelled)
            #expect(token.isCancelled)
            _ = try await service.send(getNote)
            #expect(server.requestCount == 1)
            #expect(results.number == 1)
        }
    }

    @Test("A silent cancellation before resume calls no handler, and ends the progress")
    func silent() async throws {
        try await withServer(Self.reply) { service, server in
            let results = Results()
            let token = service.send(getNote, autoResume: false) { (result: Result<Note, RequestFailure>) in
                results.add(result)
            }
            let updates = token.progressUpdates
            token.cancel(silently: true)
            token.resume()
            for await _ in updates {}
            _ = try await service.send(getNote)
            #expect(results.number == 0)
            #expect(server.requestCount == 1)
        }
    }

    @Test("A token that is released before resume sends nothing, and releases its request")
    func released() async throws {
        final class Witness: Sendable {}
        try await withServer(Self.reply) { service, server in
            weak var weakWitness: Witness?
            var updates: AsyncStream<TransferProgress>?
            do {
                let witness = Witness()
                weakWitness = witness
                let token = service.send(getNote, autoResume: false) { (_: Result<Note, RequestFailure>) in _ = witness
                }
                updates = token.progressUpdates
            }
            #expect(weakWitness == nil)
            if let updates { for await _ in updates {} }
            #expect(server.requestCount == 0)
        }
    }

    @Test("Cancelling and resuming at the same time calls the handler exactly once")
    func race() async throws {
        let fixture = try ServiceFixture(StubTransport(#"{"id":7,"text":"a"}"#))
        for _ in 0..<200 {
            let results = Results()
            let token = fixture.service.send(getNote, autoResume: false) { (result: Result<Note, RequestFailure>) in
                results.add(result)
            }
            async let resumed: Void = Task { token.resume() }.value
            async let cancelled: Void = Task { token.cancel() }.value
            _ = await (resumed, cancelled)
            if case .failure(let failure)? = await results.next() { #expect(failure.reason == .cancelled) }
            #expect(results.number == 1)
        }
    }

    @Test("Every cancellation is the failure cancelled: before, during, by token and by shutdown")
    func cancellation() async throws {
        let arrived = LoopbackGate()
        try await withServer({ _ in
            arrived.open()
            return .hang
        }) { service, server in
            let early = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await service.send(getNote)
            }
            let before = await #expect(throws: RequestFailure.self) { try await early.value }
            #expect(before?.reason == .cancelled)
            #expect(server.requestCount == 0)
            let running = Task { try await service.send(getNote) }
            await arrived.opened()
            running.cancel()
            let during = await #expect(throws: RequestFailure.self) { try await running.value }
            #expect(during?.reason == .cancelled)
            let results = Results()
            let token = service.send(getNote) { (result: Result<Note, RequestFailure>) in results.add(result) }
            token.cancel()
            let byToken = await #expect(throws: RequestFailure.self) { try await results.next()?.get() }
            #expect(byToken?.reason == .cancelled)
            let last = Task { try await service.send(getNote.adding("last" as RequestPath)) }
            while !server.requests.contains(where: { $0.path.hasSuffix("/last") }) { await Task.yield() }
            let suspended = service.send(getNote, autoResume: false) { (result: Result<Note, RequestFailure>) in
                results.add(result)
            }
            await service.shutdown()
            let byShutdown = await #expect(throws: RequestFailure.self) { try await last.value }
            #expect(byShutdown?.reason == .cancelled)
            suspended.resume()
            let late = await #expect(throws: RequestFailure.self) { try await results.next()?.get() }
            #expect(late?.reason == .closed)
        }
    }

    @Test("Values are fetched again and again, one after the other, until the first failure")
    func values() async throws {
        let clock = ManualClock()
        let count = Mutex(0)
        let transport = StubTransport { _ throws(RequestFailure) in
            let number = count.withLock {
                $0 += 1; return $0
            }
            return TransportResponse(
                HTTPResponse(
                    status: number == 3 ? .serviceUnavailable : .ok, headerFields: [.contentType: "application/json"]),
                body: ResponseBody(Data(#"{"id":\#(number),"text":""}"#.utf8)))
        }
        let fixture = try ServiceFixture(transport)
        let values = fixture.service.values(of: getNote, every: .seconds(30), clock: clock)
        #expect(transport.requests.isEmpty)
        var iterator = values.makeAsyncIterator()
        #expect(try await iterator.next()?.id == 1)
        let advance = Task {
            await clock.waitForSleepers(count: 1)
            let sent = transport.requests.count
            clock.advance(by: .seconds(29))
            #expect(clock.sleeperCount == 1)
            clock.advance(by: .seconds(1))
            return sent
        }
        #expect(try await iterator.next()?.id == 2)
        #expect(await advance.value == 1)
        let again = Task {
            await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(30))
        }
        let failure = await #expect(throws: RequestFailure.self) { try await iterator.next() }
        await again.value
        #expect(failure?.status == .serviceUnavailable)
        #expect(try await iterator.next() == nil)
        #expect(transport.requests.count == 3)
    }

    @Test("Cancelling during the wait between values fails with cancelled")
    func cancelledWait() async throws {
        let clock = ManualClock()
        let fixture = try ServiceFixture(
            StubTransport { _ throws(RequestFailure) in
                TransportResponse(
                    HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
                    body: ResponseBody(Data(#"{"id":1,"text":""}"#.utf8)))
            })
        let task = Task {
            var ids: [Int] = []
            for try await note in fixture.service.values(of: getNote, every: .seconds(30), clock: clock) {
                ids.append(note.id)
            }
            return ids
        }
        await clock.waitForSleepers(count: 1)
        task.cancel()
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .cancelled)
        #expect(fixture.transport.requests.count == 1)
    }
}
