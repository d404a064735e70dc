import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// The requirements of the protocol `Transport`.
@Suite struct ScriptedContractTests {
    private let transport = ScriptedTransport()

    @Test func `A task that is cancelled before it sends fails with cancelled and is not recorded`() async throws {
        transport.on(.get, "/").answer()
        let transport = transport
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await requestFailure { _ = try await transport.send(scriptedRequest()) }
        }
        #expect(await task.value?.reason == .cancelled)
        #expect(transport.requestCount == 0)
    }

    @Test func `A task that is cancelled during a delay fails with cancelled and stops sleeping`() async throws {
        transport.on(.get, "/").answer(after: .seconds(5))
        let transport = transport
        let task = Task { await requestFailure { _ = try await transport.send(scriptedRequest()) } }
        await transport.clock.waitForSleepers(count: 1)
        task.cancel()
        let failure = await task.value
        #expect(failure?.reason == .cancelled)
        #expect(failure?.phase == .waiting)
        #expect(failure?.host == "api.example.com")
        transport.clock.advance(by: .seconds(5))
        #expect(transport.requestCount == 1)
    }

    @Test func `A task that is cancelled while reading a stream fails with cancelled permanently`() async throws {
        transport.on(.get, "/").answer(pieces: ["a", .pause(.seconds(5)), "b"])
        let response = try await transport.send(streamedRequest())
        let transport = transport
        let task = Task { await requestFailure { _ = try await response.body.collect(upTo: 10) } }
        await transport.clock.waitForSleepers(count: 1)
        task.cancel()
        let failure = await task.value
        #expect(failure?.reason == .cancelled)
        #expect(failure?.phase == .receiving)
        #expect(await requestFailure { _ = try await response.body.collect(upTo: 10) }?.reason == .cancelled)
    }

    @Test func `A cancelled task reads nothing from a stream`() async throws {
        transport.on(.get, "/").answer(pieces: ["a", "b"])
        let response = try await transport.send(streamedRequest())
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await requestFailure { for try await _ in response.body {} }
        }
        #expect(await task.value?.reason == .cancelled)
    }

    @Test func `A closure or body source that ignores cancellation does not delay a cancelled request`()
        async throws
    {
        let gate = LoopbackGate()
        let (begun, beginnings) = AsyncStream.makeStream(of: Void.self)
        defer { gate.open() }
        transport.on(.get, "/").answer { _ in
            beginnings.yield()
            await Task.detached { await gate.opened() }.value
            return ScriptedAnswer()
        }
        let pieces = AsyncStream<Data>(unfolding: {
            beginnings.yield()
            await Task.detached { await gate.opened() }.value
            return nil
        })
        var upload = try scriptedRequest(.post)
        upload.body = .stream(pieces, length: nil)
        let (transport, requests) = (transport, [try scriptedRequest(), upload])
        var beginning = begun.makeAsyncIterator()
        for (request, phase) in zip(requests, [RequestFailure.Phase.waiting, .sending]) {
            let task = Task { await requestFailure { _ = try await transport.send(request) } }
            await beginning.next()
            task.cancel()
            let failure = await task.value
            #expect(failure?.reason == .cancelled)
            #expect(failure?.phase == phase)
        }
    }

    @Test func `A shutdown cancels waiting requests and open streams, and refuses new requests`() async throws {
        transport.on(.get, "/wait").answer(after: .seconds(5))
        transport.on(.get, "/read").answer(pieces: ["a", .pause(.seconds(5)), "b"])
        transport.on(.get, "/unread").answer(text: "x")
        let transport = transport
        let unread = try await transport.send(streamedRequest("/unread"))
        let read = try await transport.send(streamedRequest("/read"))
        let tasks = [
            Task { await requestFailure { _ = try await transport.send(scriptedRequest(.get, "/wait")) } },
            Task { await requestFailure { _ = try await read.body.collect(upTo: 10) } },
        ]
        let waiting = Task { await requestFailure { _ = try await transport.request(number: 9) } }
        await transport.clock.waitForSleepers(count: 2)
        await transport.shutdown()
        for task in tasks { #expect(await task.value?.reason == .cancelled) }
        #expect(await waiting.value?.reason == .closed)
        #expect(await requestFailure { _ = try await unread.body.collect(upTo: 10) }?.reason == .cancelled)
        let late = await requestFailure { _ = try await transport.send(scriptedRequest(.get, "/wait")) }
        #expect(late?.reason == .closed)
        #expect(late?.phase == .queue)
        await transport.shutdown()
        #expect(transport.requestCount == 3)
        #expect(try await transport.request(number: 3).url.path == "/wait")
    }

    @Test func `A thousand concurrent requests each receive their own answer`() async throws {
        transport.on(.get, "/*").answer { ScriptedAnswer(text: $0.url.target, after: .seconds(1)) }
        let transport = transport
        let answered = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<1000 {
                group.addTask {
                    var request = try scriptedRequest(.get, "/\(number)?n=\(number)")
                    if number % 2 == 0 { request.options.delivery = .streamed }
                    let response = try await transport.send(request)
                    return try await response.body.collect(upTo: 100) == Data("/\(number)?n=\(number)".utf8)
                }
            }
            await transport.clock.waitForSleepers(count: 1000)
            transport.clock.advance(by: .seconds(1))
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(answered == 1000)
        #expect(transport.requests.count == 1000)
        #expect(Set(transport.requests.map(\.url.target)).count == 1000)
        try transport.verify()
    }

    @Test func `A sequence gives each answer once to a thousand concurrent requests`() async throws {
        var rule = transport.on(.get, "/").answer(text: "0").once()
        for number in 1..<1000 { rule = rule.thenAnswer(text: "\(number)") }
        let transport = transport
        let texts = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<1000 { group.addTask { try await transport.send(scriptedRequest()).text } }
            return try await group.reduce(into: Set<String>()) { if let text = $1 { $0.insert(text) } }
        }
        #expect(texts == Set((0..<1000).map { "\($0)" }))
        try transport.verify()
        let more = await requestFailure { _ = try await transport.send(scriptedRequest()) }
        #expect(more?.reason == .invalidRequest)
    }

    @Test func `Concurrent cancellations and clock changes end each of 1,000 requests exactly once`() async throws {
        transport.on(.get, "/**").answer(pieces: ["a", .pause(.seconds(1)), "b"], after: .seconds(1))
        let transport = transport
        let exchanges = (0..<1000).map { number in
            Task {
                do {
                    let request = try number % 2 == 0 ? scriptedRequest() : streamedRequest()
                    return try await transport.send(request).body.collect(upTo: 2) == Data("ab".utf8) ? "done" : "wrong"
                } catch {
                    return (error as? RequestFailure)?.reason.name ?? "\(error)"
                }
            }
        }
        await withTaskGroup { group in
            group.addTask { for index in stride(from: 0, to: 1000, by: 3) { exchanges[index].cancel() } }
            group.addTask {
                for _ in 0..<50 {
                    transport.clock.advance(by: .milliseconds(20))
                    await Task.yield()
                }
            }
        }
        await transport.shutdown()
        var counts: [String: Int] = [:]
        for exchange in exchanges { counts[await exchange.value, default: 0] += 1 }
        #expect(Set(counts.keys).isSubset(of: ["done", "cancelled", "closed"]))
        #expect(counts.values.reduce(0, +) == 1000)
        #expect(transport.clock.sleeperCount == 0)
    }

    @Test func `A shutdown during 1,000 waiting requests cancels every one of them`() async throws {
        transport.on(.get, "/").answer(after: .seconds(1))
        let transport = transport
        let tasks = (0..<1000).map { _ in
            Task { await requestFailure { _ = try await transport.send(scriptedRequest()) }?.reason }
        }
        await transport.clock.waitForSleepers(count: 1000)
        await transport.shutdown()
        for task in tasks { #expect(await task.value == .cancelled) }
    }
}
