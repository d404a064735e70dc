import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@Suite struct RedirectStageTests {
    /// Responds by the requested URL: with a redirect, or with 200 for other URLs.
    private func transport(_ redirects: [String: (Int, String)]) -> StubTransport {
        StubTransport { request in
            guard let (status, location) = redirects[request.url.description] else {
                return TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("end".utf8)))
            }
            return redirect(status, to: location)
        }
    }

    // MARK: Chains

    @Test("A response that is no redirect is returned with its request", arguments: [200, 304, 404, 500])
    func noRedirect(status: Int) async throws {
        let transport = StubTransport(status: status)
        let request = TransportRequest(.get, try RequestURL("https://a.example/x"))
        let redirected = try await transport.send(request, following: .standard)
        #expect(redirected.response.status.code == status)
        #expect(redirected.request.url == request.url)
        #expect(redirected.history.isEmpty)
        #expect(transport.requests.count == 1)
    }

    @Test("A chain of redirects is followed to its end and recorded")
    func chain() async throws {
        let transport = transport([
            "https://a.example/x": (302, "/y"), "https://a.example/y": (307, "https://b.example/z?q"),
            "https://b.example/z?q": (308, "?r"),
        ])
        let request = TransportRequest(
            .post, try RequestURL("https://a.example/x"), headerFields: [.contentType: "text/plain"],
            body: .bytes(Data("hello".utf8)))
        let redirected = try await transport.send(request, following: .standard)
        #expect(redirected.response.body.data == Data("end".utf8))
        #expect(redirected.request.url.description == "https://b.example/z?r")
        #expect(redirected.request.method == .get)
        #expect(
            redirected.history.map(\.description) == [
                "302 https://a.example/x → GET https://a.example/y",
                "307 https://a.example/y → GET https://b.example/z?…",
                "308 https://b.example/z?… → GET https://b.example/z?…",
            ])
        #expect(transport.requests.map(\.method) == [.post, .get, .get, .get])
        #expect(transport.requests.map { $0.headerFields[.contentType] } == ["text/plain", nil, nil, nil])
    }

    @Test("A body in memory is sent again for each redirect", arguments: [307, 308])
    func replay(status: Int) async throws {
        let transport = transport([
            "https://a.example/x": (status, "/y"), "https://a.example/y": (status, "https://b.example/z"),
        ])
        let request = TransportRequest(
            .put, try RequestURL("https://a.example/x"), body: .bytes(Data("hello".utf8)))
        _ = try await transport.send(request, following: .standard)
        let bodies = transport.requests.map { request in
            if case .bytes(let data) = request.body.content { String(decoding: data, as: UTF8.self) } else { "-" }
        }
        #expect(bodies == ["hello", "hello", "hello"])
        #expect(transport.requests.map(\.method) == [.put, .put, .put])
    }

    @Test("A stream is not sent again after a redirect")
    func notReplayable() async throws {
        let transport = transport(["https://a.example/x": (307, "https://b.example/")])
        let pieces = AsyncStream<Data> { $0.finish() }
        let request = TransportRequest(
            .put, try RequestURL("https://a.example/x"), body: .stream(pieces, length: nil))
        let failure = await #expect(throws: RequestFailure.self) {
            try await transport.send(request, following: .standard)
        }
        #expect(failure?.reason == .notReplayable)
        #expect(failure?.host == "a.example")
        #expect(transport.requests.count == 1)
    }

    @Test("Credentials stay with the first origin even if the chain returns to it")
    func credentials() async throws {
        let transport = transport([
            "https://a.example/1": (302, "/2"), "https://a.example/2": (302, "https://b.example/3"),
            "https://b.example/3": (302, "https://a.example/4"),
        ])
        let request = TransportRequest(
            .get, try RequestURL("https://a.example/1"),
            headerFields: [.authorization: "secret", .cookie: "secret", .accept: "a/b"])
        _ = try await transport.send(request, following: .standard)
        #expect(transport.requests.map { $0.headerFields[.authorization] } == ["secret", "secret", nil, nil])
        #expect(transport.requests.map { $0.headerFields[.cookie] } == ["secret", "secret", nil, nil])
        #expect(transport.requests.map { $0.headerFields[.accept] } == ["a/b", "a/b", "a/b", "a/b"])
    }

    @Test("A redirect loop ends at the limit", arguments: [0, 1, 5, 10])
    func loop(limit: Int) async throws {
        let transport = transport(["https://a.example/x": (302, "/y"), "https://a.example/y": (302, "/x")])
        let request = TransportRequest(.get, try RequestURL("https://a.example/x"))
        let failure = await #expect(throws: RequestFailure.self) {
            try await transport.send(request, following: .limit(limit))
        }
        #expect(failure?.reason == .redirectLimit)
        #expect(failure?.host == "a.example")
        #expect(transport.requests.count == limit + 1)
    }

    @Test("The policy “none” returns the redirect")
    func noPolicy() async throws {
        let transport = transport(["https://a.example/x": (302, "/y")])
        let request = TransportRequest(.get, try RequestURL("https://a.example/x"))
        let redirected = try await transport.send(request, following: .refused)
        #expect(redirected.response.status == .found)
        #expect(redirected.history.isEmpty)
        #expect(transport.requests.count == 1)
    }

    @Test("A closure receives the history and can stop at a redirect")
    func deciding() async throws {
        let transport = StubTransport { _ in redirect(302, to: "https://a.example/again") }
        let lengths = Mutex<[Int]>([])
        let policy = RedirectPolicy.deciding { proposal in
            lengths.withLock { $0.append(proposal.history.count) }
            return proposal.history.count < 3 ? .follow : .stop
        }
        let request = TransportRequest(.get, try RequestURL("https://a.example/x"))
        let redirected = try await transport.send(request, following: policy)
        #expect(redirected.response.status == .found)
        #expect(redirected.history.count == 3)
        #expect(lengths.withLock { $0 } == [0, 1, 2, 3])
        #expect(transport.requests.count == 4)
    }

    @Test("A failure of a later hop has that hop's host")
    func failingHop() async throws {
        let transport = StubTransport { request throws(RequestFailure) in
            let host = request.url.origin.host.text
            guard host == "a.example" else {
                throw RequestFailure(.connection, "No.", phase: .connect, host: host)
            }
            return redirect(302, to: "https://b.example/")
        }
        let request = TransportRequest(.get, try RequestURL("https://a.example/x"))
        let failure = await #expect(throws: RequestFailure.self) {
            try await transport.send(request, following: .standard)
        }
        #expect(failure?.reason == .connection)
        #expect(failure?.host == "b.example")
    }

    // MARK: Timeouts and cancellation

    @Test("Each hop has the remaining time, and the last request keeps the caller's timeout")
    func deadline() async throws {
        let clock = StoppedClock()
        let transport = StubTransport { request in
            clock.advance(by: .seconds(3))
            return request.url.target == "/3"
                ? TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data()))
                : redirect(302, to: "/\((Int(request.url.target.dropFirst()) ?? 0) + 1)")
        }
        var request = TransportRequest(.get, try RequestURL("https://a.example/0"))
        request.options.totalTimeout = .seconds(10)
        request.options.idleTimeout = .seconds(4)
        let redirected = try await transport.send(request, following: .standard, clock: clock)
        #expect(redirected.request.options == request.options)
        #expect(
            transport.requests.map(\.options.totalTimeout) == [.seconds(10), .seconds(7), .seconds(4), .seconds(1)])
        #expect(transport.requests.allSatisfy { $0.options.idleTimeout == .seconds(4) })
    }

    @Test("Nothing is sent after the total timeout", arguments: [5, 6])
    func deadlinePassed(seconds: Int) async throws {
        let clock = StoppedClock()
        let transport = StubTransport { _ in
            clock.advance(by: .seconds(seconds))
            return redirect(302, to: "https://b.example/?secret")
        }
        var request = TransportRequest(.get, try RequestURL("https://a.example/"))
        request.options.totalTimeout = .seconds(5)
        let failure = await #expect(throws: RequestFailure.self) {
            try await transport.send(request, following: .standard, clock: clock)
        }
        #expect(failure?.reason == .timeout)
        #expect(failure?.host == "b.example")
        #expect(failure?.description.contains("secret") == false)
        #expect(transport.requests.count == 1)
    }

    @Test("Without a timeout the elapsed time is ignored")
    func noDeadline() async throws {
        let clock = StoppedClock()
        let transport = StubTransport { request in
            clock.advance(by: .seconds(1_000_000))
            return request.url.target == "/"
                ? redirect(302, to: "/y") : TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data()))
        }
        let request = TransportRequest(.get, try RequestURL("https://a.example/"))
        _ = try await transport.send(request, following: .standard, clock: clock)
        #expect(transport.requests.map(\.options.totalTimeout) == [nil, nil])
    }

    @Test("The last request of a redirect can be sent again by itself, with its body as its options say")
    func lastRequest() async throws {
        let transport = StubTransport { request in
            request.url.path == "/"
                ? redirect(302, to: "/there")
                : TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("x".utf8)))
        }
        let request = TransportRequest(.get, try RequestURL("https://a.example/"))
        let redirected = try await transport.send(request, following: .standard)
        #expect(redirected.request.url.path == "/there")
        #expect(redirected.request.unwantedBodies == [])
        #expect(transport.requests.last?.unwantedBodies == .ofRedirects)
    }

    @Test("A task that is cancelled during a hop sends no further request")
    func cancelled() async throws {
        let (sent, cancelled) = (LoopbackGate(), LoopbackGate())
        let transport = StubTransport { _ in
            sent.open()
            await cancelled.opened()
            return redirect(302, to: "https://b.example/")
        }
        let request = TransportRequest(.get, try RequestURL("https://a.example/"))
        let task = Task { () async throws(RequestFailure) -> RedirectedResponse in
            try await transport.send(request, following: .standard)
        }
        await sent.opened()
        task.cancel()
        cancelled.open()
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .cancelled)
        #expect(transport.requests.count == 1)
    }

    // MARK: Streamed bodies

    @Test(
        "A redirect's streamed body is read up to a limit, and cancelled beyond it",
        arguments: [
            ([], 0, true), ([10], 0, true), ([40_000, 25_536], 0, true), ([65_536], 0, true),
            ([65_537], 1, false), ([40_000, 25_537, 10, 10], 1, false),
        ] as [([Int], Int, Bool)])
    func drained(sizes: [Int], cancels: Int, isReadToItsEnd: Bool) async throws {
        let source = Pieces(sizes)
        let transport = StubTransport { request in
            request.url.target == "/x"
                ? redirect(302, to: "/y", body: ResponseBody(source: source))
                : TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(source: Pieces([3])))
        }
        var request = TransportRequest(.get, try RequestURL("https://a.example/x"))
        request.options.delivery = .streamed
        // With a real clock, a busy machine could exceed the time limit for discarding a body.
        let redirected = try await transport.send(request, following: .standard, clock: StoppedClock())
        #expect(source.cancelCount == cancels)
        #expect(source.isRead == isReadToItsEnd)
        #expect(redirected.response.body.data == nil)
        #expect(try await redirected.response.body.collect(upTo: 10).count == 3)
    }

    @Test("A failure while discarding a redirect's body is ignored")
    func drainFails() async throws {
        let source = Pieces([10, 10], failure: RequestFailure(.interrupted, "It ended."))
        let transport = StubTransport { request in
            request.url.target == "/x"
                ? redirect(302, to: "/y", body: ResponseBody(source: source))
                : TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data()))
        }
        let request = TransportRequest(.get, try RequestURL("https://a.example/x"))
        #expect(try await transport.send(request, following: .standard).response.status == .ok)
    }

    @Test("Time spent on discarding a body counts towards the timeout")
    func drainTakesTime() async throws {
        let clock = StoppedClock()
        let source = Pieces([10, 10]) { clock.advance(by: .seconds(2)) }
        let transport = StubTransport { _ in redirect(302, to: "/y", body: ResponseBody(source: source)) }
        var request = TransportRequest(.get, try RequestURL("https://a.example/x"))
        request.options.totalTimeout = .seconds(5)
        let failure = await #expect(throws: RequestFailure.self) {
            try await transport.send(request, following: .standard, clock: clock)
        }
        #expect(failure?.reason == .timeout)
        #expect(transport.requests.count == 1)
    }

    @Test("Discarding a streamed body that does not end is given up")
    func drainHangs() async throws {
        let source = Silence()
        let transport = StubTransport { request in
            request.url.target == "/x"
                ? redirect(302, to: "/y", body: ResponseBody(source: source))
                : TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data()))
        }
        let request = TransportRequest(.get, try RequestURL("https://a.example/x"))
        let clock = StoppedClock(sleeps: false)
        #expect(try await transport.send(request, following: .standard, clock: clock).response.status == .ok)
        #expect(source.isCancelled)
    }

    @Test("The streamed body of a refused redirect is cancelled, and that of a returned one is not")
    func notFollowed() async throws {
        let refused = Pieces([10])
        let stopped = Pieces([10])
        let request = TransportRequest(.get, try RequestURL("https://a.example/x"))
        let first = StubTransport { _ in redirect(302, to: "ftp://b.example/", body: ResponseBody(source: refused)) }
        await #expect(throws: RequestFailure.self) { try await first.send(request, following: .standard) }
        #expect(refused.cancelCount == 1)
        let second = StubTransport { _ in redirect(302, to: "/y", body: ResponseBody(source: stopped)) }
        let handedBack = try await second.send(request, following: .deciding { _ in .stop })
        #expect(stopped.cancelCount == 0)
        #expect(try await handedBack.response.body.collect(upTo: 10).count == 10)
    }

    // MARK: Over the network

    @Test("Redirects on one server use one connection, collected or streamed", arguments: [false, true])
    func network(isStreamed: Bool) async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/a": .response(status: 302, headers: [("Location", "b/c")], body: Array(repeating: 120, count: 9_000))
            case "/b/c": .chunked(status: 307, headers: [("Location", "../d?e=é")], chunks: [[1, 2], [3]])
            default: .response(body: "\(request.method) \(request.target)")
            }
        }
        let transport = try CurlTransport()
        let result = await follow(try RequestURL(server.url + "/a"), isStreamed: isStreamed, through: transport)
        let targets = server.requests.map(\.target)
        let connections = server.connectionCount
        await transport.shutdown()
        server.stop()
        let (redirected, text) = try result.get()
        #expect(text == "GET /d?e=%C3%A9")
        #expect(redirected.history.map(\.status.code) == [302, 307])
        #expect(redirected.response.connection.isReused)
        #expect(targets == ["/a", "/b/c", "/d?e=%C3%A9"])
        #expect(connections == 1)
    }

    private func follow(
        _ url: RequestURL, isStreamed: Bool, through transport: any Transport
    ) async -> Result<(RedirectedResponse, String), RequestFailure> {
        var request = TransportRequest(.get, url)
        if isStreamed { request.options.delivery = .streamed }
        do throws(RequestFailure) {
            // With a real clock, a busy machine could exceed the time after which a body and its
            // connection are given up.
            let clock = StoppedClock()
            let redirected = try await transport.send(request, following: .standard, clock: clock)
            let body = try await redirected.response.body.collect(upTo: 100)
            return .success((redirected, String(decoding: body, as: UTF8.self)))
        } catch {
            return .failure(error)
        }
    }
}

private func redirect(
    _ status: Int, to location: String, body: ResponseBody = ResponseBody(Data("moved".utf8))
) -> TransportResponse {
    TransportResponse(
        HTTPResponse(status: .init(code: status), headerFields: [.location: location]), body: body)
}

/// A clock that stands still until it is advanced.
private final class StoppedClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (first: Instant, second: Instant) -> Bool { first.offset < second.offset }
    }

    private let offset = Mutex(Duration.zero)
    private let sleeps: Bool

    /// Creates a clock whose sleepers keep sleeping or return at once.
    init(sleeps: Bool = true) { self.sleeps = sleeps }

    var now: Instant { Instant(offset: offset.withLock { $0 }) }
    var minimumResolution: Duration { .zero }

    func advance(by duration: Duration) { offset.withLock { $0 += duration } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        // Every sleeper is cancelled long before.
        if sleeps { try await Task.sleep(for: .seconds(3_600)) }
    }
}

/// A streamed body with pieces of these sizes.
private final class Pieces: ResponseBody.Source {
    private let sizes: Mutex<[Int]>
    private let cancels = Mutex(0)
    private let ends = Mutex(0)
    private let failure: RequestFailure?
    private let onRead: @Sendable () -> Void

    init(_ sizes: [Int], failure: RequestFailure? = nil, onRead: @escaping @Sendable () -> Void = {}) {
        self.sizes = Mutex(sizes)
        self.failure = failure
        self.onRead = onRead
    }

    var cancelCount: Int { cancels.withLock { $0 } }
    /// Whether the end was reached.
    var isRead: Bool { ends.withLock { $0 } > 0 }

    func next() async throws(RequestFailure) -> BodyChunk? {
        onRead()
        guard let size = sizes.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
            if let failure { throw failure }
            ends.withLock { $0 += 1 }
            return nil
        }
        return BodyChunk(Array(repeating: UInt8(ascii: "x"), count: size))
    }

    func cancel() { cancels.withLock { $0 += 1 } }
}

/// A streamed body that delivers nothing until it is cancelled.
private final class Silence: ResponseBody.Source {
    private let waiting = Mutex<CheckedContinuation<Void, Never>?>(nil)
    private let cancelled = Mutex(false)

    var isCancelled: Bool { cancelled.withLock { $0 } }

    func next() async throws(RequestFailure) -> BodyChunk? {
        await withCheckedContinuation { continuation in
            if isCancelled { return continuation.resume() }
            waiting.withLock { $0 = continuation }
            // It may have been cancelled in the meantime.
            if isCancelled { resume() }
        }
        throw RequestFailure(.cancelled, "It was cancelled.")
    }

    func cancel() {
        cancelled.withLock { $0 = true }
        resume()
    }

    private func resume() { waiting.withLock { $0.take() }?.resume() }
}
