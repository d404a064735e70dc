import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite struct ScriptedBodyTests {
    private let transport = ScriptedTransport()

    private func chunks(_ body: ResponseBody) async throws -> [String] {
        var chunks: [String] = []
        for try await chunk in body { chunks.append(String(decoding: chunk.array, as: UTF8.self)) }
        return chunks
    }

    @Test func `A streamed answer arrives in its pieces, without empty ones`() async throws {
        transport.on(.get, "/").answer(pieces: ["ab", "", "c", .bytes(Data("d".utf8))])
        let response = try await transport.send(streamedRequest())
        #expect(response.body.data == nil)
        #expect(response.body.ending == nil)
        #expect(try await chunks(response.body) == ["ab", "c", "d"])
        #expect(response.body.ending?.metrics.bodyBytesReceived == 4)
        #expect(response.body.ending?.metrics.finished != nil)
        #expect(try await response.body.collect(upTo: 10) == Data())
    }

    @Test func `A plain answer to a streamed request is a stream`() async throws {
        transport.on(.get, "/").answer(text: "hello")
        let response = try await transport.send(streamedRequest())
        #expect(response.body.data == nil)
        #expect(try await response.body.collect(upTo: 5) == Data("hello".utf8))
    }

    @Test func `A collected request receives all pieces after their pauses`() async throws {
        transport.on(.get, "/").answer(
            pieces: [.pause(.seconds(1)), "a", .pause(.seconds(2)), "b"], after: .seconds(3))
        let transport = transport
        let task = Task { try await transport.send(scriptedRequest()) }
        for seconds in [3, 1, 2] {
            await transport.clock.waitForSleepers(count: 1)
            transport.clock.advance(by: .seconds(seconds))
        }
        let response = try await task.value
        #expect(response.text == "ab")
        #expect(response.metrics.firstByte == .seconds(3))
        #expect(response.metrics.finished == .seconds(6))
    }

    @Test func `Pauses delay a stream and elapse even if it is not read`() async throws {
        transport.on(.get, "/").answer(
            pieces: ["a", .pause(.seconds(5)), "b", .pause(.seconds(5)), .pause(.seconds(5)), "c"])
        let response = try await transport.send(streamedRequest())
        let (transport, chunks) = (transport, AsyncStream.makeStream(of: String.self))
        let task = Task {
            for try await chunk in response.body {
                chunks.continuation.yield(String(decoding: chunk.array, as: UTF8.self))
            }
            chunks.continuation.finish()
        }
        var received = chunks.stream.makeAsyncIterator()
        #expect(await received.next() == "a")
        await transport.clock.waitForSleepers(count: 1)
        transport.clock.advance(by: .seconds(5))
        #expect(await received.next() == "b")
        transport.clock.advance(by: .seconds(10))
        #expect(await received.next() == "c")
        #expect(await received.next() == nil)
        try await task.value
    }

    @Test(arguments: [true, false]) func `A body can end with a failure`(isStreamed: Bool) async throws {
        transport.on(.get, "/").answer(pieces: ["a", .failure(.interrupted), "b"])
        var received: [String] = []
        let failure = await requestFailure {
            let request = try isStreamed ? streamedRequest() : scriptedRequest()
            for try await chunk in try await transport.send(request).body {
                received.append(String(decoding: chunk.array, as: UTF8.self))
            }
        }
        #expect(received == (isStreamed ? ["a"] : []))
        #expect(failure?.reason == .interrupted)
        #expect(failure?.phase == .receiving)
    }

    @Test(arguments: [(3, true), (4, true), (2, false), (0, false), (-1, false)])
    func `A collected body obeys its limit`(limit: Int, fits: Bool) async throws {
        transport.on(.get, "/").answer(pieces: ["ab", "c"])
        var request = try scriptedRequest()
        request.options.delivery = .collected(upTo: limit)
        let sent = request
        if fits {
            #expect(try await transport.send(sent).text == "abc")
        } else {
            let failure = await requestFailure { _ = try await transport.send(sent) }
            #expect(failure?.reason == .tooLarge)
            #expect(failure?.message == "The body of the response exceeds \(max(0, limit)) bytes.")
            #expect(failure?.phase == .receiving)
        }
    }

    @Test(arguments: [(HTTPRequest.Method.head, 200), (.get, 204), (.get, 304)])
    func `Responses without a body by HTTP's rules have none`(method: HTTPRequest.Method, status: Int) async throws {
        transport.on(method, "/").answer(HTTPResponse.Status(code: status), text: "x")
        let response = try await transport.send(scriptedRequest(method))
        #expect(response.status.code == status)
        #expect(response.body.data == Data())
    }

    @Test(arguments: [
        (Duration.seconds(61), "Nothing was sent to or received from https://api.example.com for 60.0 seconds.", 60),
        (.seconds(50), "The exchange with https://api.example.com did not finish within 40.0 seconds.", 40),
        (.seconds(35), "https://api.example.com did not begin its response within 30.0 seconds.", 30),
    ])
    func `A request's timeouts expire on the clock`(delay: Duration, message: String, seconds: Int) async throws {
        transport.on(.get, "/").answer(after: delay)
        var request = try scriptedRequest()
        if delay < .seconds(60) { request.options.totalTimeout = .seconds(40) }
        if delay < .seconds(40) { request.options.firstByteTimeout = .seconds(30) }
        let (transport, sent) = (transport, request)
        let task = Task { await requestFailure { _ = try await transport.send(sent) } }
        await transport.clock.waitForSleepers(count: 1)
        #expect(transport.clock.nextDeadline == ManualClock.Instant(elapsed: .seconds(seconds)))
        transport.clock.advanceToNextDeadline()
        let failure = await task.value
        #expect(failure?.reason == .timeout)
        #expect(failure?.phase == .waiting)
        #expect(failure?.message == message)
    }

    @Test func `A stream that pauses for longer than the idle timeout fails with timeout`() async throws {
        transport.on(.get, "/").answer(pieces: ["a", .pause(.seconds(90)), "b"])
        let response = try await transport.send(streamedRequest())
        let transport = transport
        let task = Task { await requestFailure { _ = try await response.body.collect(upTo: 10) } }
        await transport.clock.waitForSleepers(count: 1)
        transport.clock.advance(by: .seconds(60))
        let failure = await task.value
        #expect(failure?.reason == .timeout)
        #expect(failure?.phase == .receiving)
        #expect(await requestFailure { _ = try await response.body.collect(upTo: 10) }?.reason == .timeout)
    }

    @Test func `Only one task can read a stream`() async throws {
        transport.on(.get, "/").answer(pieces: [.pause(.seconds(1)), "a"])
        let response = try await transport.send(streamedRequest())
        let transport = transport
        let task = Task { try await response.body.collect(upTo: 10) }
        await transport.clock.waitForSleepers(count: 1)
        let second = await requestFailure { _ = try await response.body.collect(upTo: 10) }
        #expect(second?.reason == .invalidRequest)
        #expect(second?.message == "Two tasks read one streamed body at the same time.")
        transport.clock.advance(by: .seconds(1))
        #expect(try await task.value == Data("a".utf8))
    }
}
