import EssentialsTestKit
import EssentialsTools
import EssentialsTransport
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("Digest faults", .timeLimit(.minutes(5)))
struct DigestFaultTests {
    private static let challenge = "Digest realm=r, nonce=n, qop=auth"

    private static func refusal(_ values: [String]) -> TransportResponse {
        let fields = HTTPFields(values.map { HTTPField(name: .wwwAuthenticate, value: $0) })
        return TransportResponse(
            HTTPResponse(status: .unauthorized, headerFields: fields), body: ResponseBody(Data()))
    }

    private static let content = TransportResponse(HTTPResponse(status: .ok), body: ResponseBody(Data("{}".utf8)))

    /// A service whose transport rejects requests without credentials with these challenges.
    private func challenged(_ values: [String]) throws -> ServiceFixture {
        let transport = StubTransport { request throws(RequestFailure) in
            request.headerFields[.authorization] == nil ? Self.refusal(values) : Self.content
        }
        let fixture = try ServiceFixture(transport)
        fixture.service.setAuthorization(try .digest(user: "ada", password: "s3cret"))
        return fixture
    }

    @Test("Every description of Digest credentials shows only their scheme, and equality compares name and password")
    func text() throws {
        let credentials = try Credentials.digest(user: "ada", password: "s3cret")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped] {
            #expect(text.contains("Digest …"))
            #expect(!text.contains("s3cret") && !text.contains("ada"))
        }
        #expect(credentials == (try .digest(user: "ada", password: "s3cret")))
        #expect(credentials.hashValue == (try Credentials.digest(user: "ada", password: "s3cret")).hashValue)
        #expect(credentials != (try .digest(user: "ada", password: "other")))
        #expect(credentials != (try .digest(user: "eve", password: "s3cret")))
        #expect(credentials != (try .basic(user: "ada", password: "s3cret")))
    }

    @Test("Digest credentials that cannot be sent are refused without being shown")
    func refused() {
        for (user, password) in [("se:cret", "x"), ("secret", "a\nb"), ("sec\u{7f}ret", "x"), ("a", "sec\u{0}ret")] {
            let failure = #expect(throws: RequestFailure.self) {
                try Credentials.digest(user: user, password: password)
            }
            #expect(failure?.reason == .invalidRequest)
            #expect(failure?.description.contains("sec") == false)
        }
    }

    @Test(
        "Digest credentials answer no unsuitable challenge, and the failure explains why",
        arguments: [
            ([], "The server does not offer Digest. Set credentials for a scheme that it lists in WWW-Authenticate."),
            (
                ["Basic realm=\"x\"", "Negotiate, Bearer realm=x"],
                "The server does not offer Digest. Set credentials for a scheme that it lists in WWW-Authenticate."
            ),
            (
                ["Digest realm=x, nonce=y, qop=auth, algorithm=SHA-512", "Basic realm=x"],
                "Have the server offer Digest with MD5, SHA-256 or SHA-512-256; other algorithms are not supported."
            ),
            (
                ["Digest realm=x, qop=auth"],
                "The server does not offer Digest. Set credentials for a scheme that it lists in WWW-Authenticate."
            ),
        ])
    func others(values: [String], remedy: String) async throws {
        let fixture = try challenged(values)
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
        #expect(failure?.reason == .status)
        #expect(failure?.response?.head.status == .unauthorized)
        #expect(failure?.remedy == remedy)
        #expect(fixture.transport.requests.count == 1)
    }

    @Test("Digest credentials answer the strongest of several challenges and ignore Basic")
    func strongest() async throws {
        let fixture = try challenged([
            "Basic realm=b",
            "Digest realm=m, nonce=n1, qop=auth, algorithm=MD5, Digest realm=s, nonce=n2, "
                + "qop=auth, algorithm=SHA-512-256", "Digest realm=t, nonce=n3, qop=auth, algorithm=SHA-256",
        ])
        let sent = try await fixture.sent(DataRequest(.get, "a"))
        #expect(fixture.transport.requests.count == 2)
        #expect(sent.headerFields[values: .authorization].count == 1)
        #expect(sent.headerFields[.authorization]?.hasPrefix(#"Digest username="ada", realm="s", "#) == true)
    }

    @Test(
        "Hostile challenges do no harm, and a valid one among them is answered",
        arguments: [
            "Digest realm=\"" + String(repeating: "x", count: 50_000),
            "Digest " + (1...5000).map { "p\($0)=v" }.joined(separator: ", "),
            "Digest realm=\"a\", nonce=\"" + String(repeating: "n", count: 40_000) + "\"",
            "Digest realm=\"a\", nonce=\"n, qop=\"auth\"", String(repeating: "\"", count: 30_001),
            String(repeating: "Digest ", count: 8000), "Digest realm=r, nonce=n, nonce=m",
            String(repeating: ",", count: 50_000), "Digest realm=\"\\",
            "Digest realm=r, nonce=n, qop=auth, algorithm=\"",
        ])
    func hostile(value: String) async throws {
        let alone = try challenged([value])
        let failure = await #expect(throws: RequestFailure.self) { try await alone.service.get("a") }
        #expect(failure?.response?.head.status == .unauthorized)
        #expect(alone.transport.requests.count == 1)
        // The parser stops after a hundred such schemes.
        guard !value.hasPrefix("Digest Digest") else { return }
        let accompanied = try challenged([value, Self.challenge])
        try await accompanied.service.get("a")
        #expect(accompanied.transport.requests.count == 2)
    }

    @Test("At most 64 KiB of challenges are read")
    func large() async throws {
        let large = "Digest realm=\"" + String(repeating: "x", count: 100_000) + "\", nonce=n, qop=auth"
        let fixture = try challenged([large, Self.challenge])
        await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
        #expect(fixture.transport.requests.count == 1)
        let first = try challenged([Self.challenge, large])
        try await first.service.get("a")
        #expect(first.transport.requests.count == 2)
    }

    @Test("A hostile challenge on the wire does no harm")
    func hostileOnTheWire() async throws {
        let server = try LoopbackServer { _ in
            let values = (0..<2000).map { "p\($0)=\"\\\"" }.joined(separator: ",")
            return .response(
                status: 401, headers: [("WWW-Authenticate", "Digest " + values), ("WWW-Authenticate", "Digest \"")])
        }
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(server.url), transport: try CurlTransport())
        service.setAuthorization(try .digest(user: "ada", password: "s3cret"))
        let failure = await #expect(throws: RequestFailure.self) { try await service.get("a") }
        #expect(failure?.response?.head.status == .unauthorized)
        #expect(server.requestCount == 1)
        await service.shutdown()
        server.stop()
    }

    // MARK: Between two attempts

    @Test("Both attempts share the total timeout")
    func deadline() async throws {
        let fixture = try challenged([Self.challenge])
        var request = DataRequest(.get, "a")
        request.options.totalTimeout = .seconds(100)
        _ = try await fixture.service.send(request)
        let limits = fixture.transport.requests.map(\.options.totalTimeout)
        #expect(limits.first == .seconds(100))
        let left = try #require(limits.last ?? nil)
        #expect(left < .seconds(100) && left > .zero)
        // A timeout that has expired: nothing more is sent.
        request.options.totalTimeout = .nanoseconds(1)
        let late = try challenged([Self.challenge])
        let failure = await #expect(throws: RequestFailure.self) { try await late.service.send(request) }
        #expect(failure?.reason == .timeout)
        #expect(failure?.message.contains("the server had sent a challenge") == true)
        #expect(late.transport.requests.count == 1)
    }

    @Test("A challenge is not answered for a task that was cancelled in the meantime")
    func cancelledTask() async throws {
        let running = Mutex<Task<Void, any Error>?>(nil)
        let begun = LoopbackGate()
        let transport = StubTransport { _ throws(RequestFailure) in
            await begun.opened()
            running.withLock { $0 }?.cancel()
            while !Task.isCancelled { await Task.yield() }
            return Self.refusal([Self.challenge])
        }
        let fixture = try ServiceFixture(transport)
        fixture.service.setAuthorization(try .digest(user: "ada", password: "s3cret"))
        let service = fixture.service
        let task = Task { _ = try await service.send(DataRequest(.get, "a")) }
        running.withLock { $0 = task }
        begun.open()
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .cancelled)
        #expect(transport.requests.count == 1)
        #expect(service.requestsInFlight == 0)
    }

    /// A cancellable transport whose service is shut down while the challenge is being received.
    private final class Endable: Transport {
        let service = Mutex<HTTPDataRequestService?>(nil)
        let sent = Atomic(0)

        func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
            try await send(request, cancellation: Cancellation())
        }

        func send(
            _ request: TransportRequest, cancellation: Cancellation
        ) async throws(RequestFailure) -> TransportResponse {
            try cancellation.check()
            sent.add(1, ordering: .relaxed)
            await service.withLock { $0.take() }?.shutdown()
            return DigestFaultTests.refusal([DigestFaultTests.challenge])
        }

        func shutdown() async {}
    }

    @Test("A challenge is not answered for a service that was shut down in the meantime")
    func endedService() async throws {
        let transport = Endable()
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h/"), transport: transport)
        service.setAuthorization(try .digest(user: "ada", password: "s3cret"))
        transport.service.withLock { $0 = service }
        let failure = await #expect(throws: RequestFailure.self) { try await service.get("a") }
        #expect(failure?.reason == .cancelled)
        #expect(transport.sent.load(ordering: .relaxed) == 1)
    }

    @Test("Cancelling during the second attempt ends the request, and the next request starts afresh")
    func cancelledToken() async throws {
        let arrived = LoopbackGate()
        let digest = DigestServer { request in
            guard request.path == "/v1/held" else { return .response(body: "{}") }
            arrived.open()
            return .hang
        }
        try await withDigestService(digest) { service, server in
            let result = await withCheckedContinuation { continuation in
                let token = service.get("held") { continuation.resume(returning: $0) }
                Task {
                    await arrived.opened()
                    token.cancel()
                }
            }
            let failure = #expect(throws: RequestFailure.self) { try result.get() }
            #expect(failure?.reason == .cancelled)
            try await service.get("door")
            #expect(server.answers == [false, true, false, true])
        }
    }
}
