import Dispatch
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@Suite struct DataRequestServiceCallbackTests {
    private static let key = DispatchSpecificKey<String>()
    fileprivate static let body = #"{"id":1,"text":"a"}"#

    private func queue(_ label: String, attributes: DispatchQueue.Attributes = []) -> DispatchQueue {
        let queue = DispatchQueue(label: label, attributes: attributes)
        queue.setSpecific(key: Self.key, value: label)
        return queue
    }

    private func service(
        _ transport: StubTransport = StubTransport(body), callbackQueue: DispatchQueue? = nil
    ) throws -> HTTPDataRequestService {
        var configuration = HTTPDataRequestService.Configuration()
        configuration.callbackQueue = callbackQueue ?? DispatchQueue(label: "own")
        return HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h/"), transport: transport, configuration: configuration)
    }

    /// Responds when the gate is open, or fails with cancelled, like a network transport.
    private func gated(_ gate: LoopbackGate) -> StubTransport {
        StubTransport { _ throws(RequestFailure) in
            await gate.opened()
            if Task.isCancelled { throw RequestFailure(.cancelled, "Cancelled.") }
            return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data(Self.body.utf8)))
        }
    }

    @Test("The handler receives the model on the given queue")
    func namedQueue() async throws {
        let service = try service(callbackQueue: queue("own"))
        let target = queue("named")
        let (result, label) = await withCheckedContinuation { continuation in
            service.get("a", deserializeTo: Note.self, completionQueue: target) {
                continuation.resume(returning: ($0, DispatchQueue.getSpecific(key: Self.key)))
            }
        }
        #expect(try result.get() == Note(id: 1, text: "a"))
        #expect(label == "named")
    }

    @Test("A handler without a queue runs on the service's own queue")
    func ownQueue() async throws {
        let service = try service(callbackQueue: queue("own"))
        let labels = await withCheckedContinuation { continuation in
            service.send(DataRequest(.get, "a")) { _ in
                let first = DispatchQueue.getSpecific(key: Self.key)
                service.send(.post("a", body: ["a": 1]), deserializeTo: Note.self) { _ in
                    continuation.resume(returning: [first, DispatchQueue.getSpecific(key: Self.key)])
                }
            }
        }
        #expect(labels == ["own", "own"])
    }

    @Test("A double that implements only send and codecs has every other form, including callbacks")
    func double() async throws {
        struct Double: DataRequestService {
            let codecs = CodecRegistry.standard
            func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
                guard request.path == "a" else { throw RequestFailure(.status, "Nothing there.") }
                return DataResponse(body: Data(DataRequestServiceCallbackTests.body.utf8))
            }
        }
        let service: any DataRequestService = Double()
        let note: Note = try await service.get("a")
        #expect(note.id == 1)
        #expect(try await service.post("a", body: note, as: Note.self) == note)
        let failure = await #expect(throws: RequestFailure.self) { try await service.get("b", as: Note.self) }
        #expect(failure?.reason == .status)
        #expect(service.callbackQueue !== DispatchQueue.main)
        let result = await withCheckedContinuation { continuation in
            service.get("a", deserializeTo: Note.self) { continuation.resume(returning: $0) }
        }
        #expect(try result.get() == note)
    }

    @Test("A handler receives the failure unchanged")
    func failing() async throws {
        let service = try service(StubTransport(status: 503, "busy"))
        let result = await withCheckedContinuation { continuation in
            service.get("a", deserializeTo: Note.self) { continuation.resume(returning: $0) }
        }
        let failure = #expect(throws: RequestFailure.self) { try result.get() }
        #expect(failure?.reason == .status)
        #expect(failure?.response?.body == Data("busy".utf8))
    }

    @Test("Cancelling a running request repeatedly gives its handler the failure cancelled once")
    func cancelDuring() async throws {
        let gate = LoopbackGate()
        let transport = gated(gate)
        let service = try service(transport)
        let started = LoopbackGate()
        let waiting = StubTransport { request throws(RequestFailure) in
            started.open()
            return try await transport.send(request)
        }
        let handlers = try self.service(waiting)
        let tokens = Mutex<CancellableToken?>(nil)
        let result = await withCheckedContinuation { continuation in
            let token = handlers.get("a", deserializeTo: Note.self) { continuation.resume(returning: $0) }
            tokens.withLock { $0 = token }
            Task {
                await started.opened()
                for _ in 0..<3 { token.cancel() }
            }
        }
        let failure = #expect(throws: RequestFailure.self) { try result.get() }
        #expect(failure?.reason == .cancelled)
        #expect(tokens.withLock { $0?.isCancelled } == true)
        #expect(tokens.withLock { $0?.isFinished } == false)
        gate.open()
        #expect(try await service.get("a", as: Note.self).id == 1)
    }

    @Test("Cancelling at once gives the handler the failure cancelled even if the transport responds")
    func cancelBefore() async throws {
        let service = try service()
        let own = queue("held")
        own.suspend()
        let result = await withCheckedContinuation { continuation in
            let token = service.get("a", deserializeTo: Note.self, completionQueue: own) {
                continuation.resume(returning: $0)
            }
            token.cancel()
            own.resume()
        }
        let failure = #expect(throws: RequestFailure.self) { try result.get() }
        #expect(failure?.reason == .cancelled)
    }

    @Test("A handler receives cancelled regardless of a later response", arguments: [200, 500])
    func cancelWins(status: Int) async throws {
        let answered = LoopbackGate()
        let service = try service(
            StubTransport { _ in
                answered.open()
                return TransportResponse(
                    HTTPResponse(status: .init(code: status)), body: ResponseBody(Data("no JSON".utf8)))
            })
        let held = queue("held")
        held.suspend()
        let result = await withCheckedContinuation { continuation in
            let token = service.get("a", deserializeTo: Note.self, completionQueue: held) {
                continuation.resume(returning: $0)
            }
            Task {
                await answered.opened()
                token.cancel()
                held.resume()
            }
        }
        let failure = #expect(throws: RequestFailure.self) { try result.get() }
        #expect(failure?.reason == .cancelled)
    }

    @Test("Cancelling after the end has no effect")
    func cancelAfter() async throws {
        let service = try service()
        let own = queue("own")
        let calls = Mutex(0)
        let tokens = Mutex<CancellableToken?>(nil)
        await withCheckedContinuation { continuation in
            let token = service.get("a", deserializeTo: Note.self, completionQueue: own) { _ in
                calls.withLock { $0 += 1 }
                continuation.resume()
            }
            tokens.withLock { $0 = token }
        }
        let token = try #require(tokens.withLock { $0 })
        #expect(token.isFinished)
        token.cancel()
        #expect(token.isFinished)
        #expect(!token.isCancelled)
        await withCheckedContinuation { continuation in own.async { continuation.resume() } }
        #expect(calls.withLock { $0 } == 1)
    }

    @Test("Releasing the token does not cancel the request")
    func dropping() async throws {
        let gate = LoopbackGate()
        let service = try service(gated(gate))
        let result = await withCheckedContinuation { continuation in
            weak let dropped = service.get("a", deserializeTo: Note.self) { continuation.resume(returning: $0) }
            _ = dropped
            gate.open()
        }
        #expect(try result.get() == Note(id: 1, text: "a"))
    }

    @Test("Handlers on a serial queue, or on the service's own queue, never overlap")
    func serial() async throws {
        for named in [queue("serial"), nil] {
            let service = try service()
            let running = Mutex((now: 0, most: 0, total: 0))
            let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
            for _ in 0..<500 {
                service.get("a", deserializeTo: Note.self, completionQueue: named) { _ in
                    running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.total + 1) }
                    running.withLock { $0.now -= 1 }
                    continuation.yield()
                }
            }
            var count = 0
            for await _ in ends {
                count += 1
                if count == 500 { break }
            }
            #expect(running.withLock { $0.most } == 1)
            #expect(running.withLock { $0.total } == 500)
        }
    }
}
