import EssentialsTestKit
import EssentialsTools
import ServiceEssentials
import Testing

/// Bodies of redirects and challenges that a client does not read before it continues.
@Suite("Bodies of redirects and challenges", .timeLimit(.minutes(5)))
struct UnwantedBodyTests {
    /// A defective body, and the reason of a request that needs this body.
    struct Body: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var fields: String
        var steps: [ServerStep]
        var reason: RequestFailure.Reason?

        init(_ name: String, _ fields: String, _ steps: [ServerStep], _ reason: RequestFailure.Reason?) {
            (testDescription, self.fields, self.steps, self.reason) = (name, fields, steps, reason)
        }
    }

    static let bodies: [Body] = [
        Body("a small one", "Content-Length: 5\r\n", [.text("moved"), .keepAlive], nil),
        Body("none", "Content-Length: 0\r\n", [.keepAlive], nil),
        Body(
            "one over the limit", "Content-Length: 100000\r\n",
            [.repeatSend(Array("0123456789".utf8), count: 10_000), .close], .tooLarge),
        Body("one that announces more than it has", "Content-Length: 10\r\n", [.text("moved"), .close], .interrupted),
        Body(
            "an endless one", "", [.repeatSend(Array("0123456789".utf8), count: 100_000_000), .close], .tooLarge),
        Body(
            "one that is no gzip", "Content-Encoding: gzip\r\nContent-Length: 5\r\n", [.text("moved"), .close],
            .protocolViolation),
        Body(
            "one of an unknown coding", "Content-Encoding: foo\r\nContent-Length: 5\r\n", [.text("moved"), .close],
            nil),
        Body(
            "one that is compressed twice", "Content-Encoding: gzip, gzip\r\nContent-Length: 5\r\n",
            [.text("moved"), .close], .protocolViolation),
        Body(
            "one that is compressed by zstd", "Content-Encoding: zstd\r\nContent-Length: 5\r\n",
            [.text("moved"), .close], .protocolViolation),
        Body(
            "one whose chunks are none", "Transfer-Encoding: chunked\r\n", [.text("x\r\n"), .close],
            .protocolViolation),
    ]

    /// Sends a request to a server whose first response has the body and whose second one has the text "here".
    private func outcome(
        of body: Body, status: Int, field: String, delivery: TransportOptions.Delivery,
        change: (inout DataRequest, HTTPDataRequestService) throws -> Void = { _, _ in }
    ) async throws -> (text: String?, failure: RequestFailure?, targets: [String]) {
        let server = try LoopbackServer { request in
            if request.path == "/v1/there" || request.header("Authorization") != nil { return .response(body: "here") }
            return .raw([.text("HTTP/1.1 \(status) X\r\n\(field)\r\n\(body.fields)\r\n")] + body.steps)
        }
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(server.url + "/v1"), transport: try CurlTransport())
        var request = DataRequest(.get, "first")
        request.options.delivery = delivery
        request.options.totalTimeout = .seconds(20)
        try change(&request, service)
        do throws(RequestFailure) {
            let text = String(decoding: try await service.send(request).body.collect(upTo: 1_000), as: UTF8.self)
            await service.shutdown()
            return (text, nil, server.requests.map(\.target))
        } catch {
            await service.shutdown()
            return (nil, error, server.requests.map(\.target))
        }
    }

    private static let deliveries: [TransportOptions.Delivery] = [.collected(upTo: 1_000), .streamed]

    @Test("A redirect is followed in spite of a defective body", arguments: bodies, deliveries)
    func redirect(body: Body, delivery: TransportOptions.Delivery) async throws {
        let outcome = try await outcome(of: body, status: 302, field: "Location: there", delivery: delivery)
        #expect(outcome.text == "here", "\(String(describing: outcome.failure))")
        #expect(outcome.targets == ["/v1/first", "/v1/there"])
    }

    @Test("A challenge is answered in spite of a defective body", arguments: bodies, deliveries)
    func challenge(body: Body, delivery: TransportOptions.Delivery) async throws {
        let field = "WWW-Authenticate: Digest realm=r, nonce=n, qop=auth, algorithm=SHA-256"
        let outcome = try await outcome(of: body, status: 401, field: field, delivery: delivery) { request, service in
            service.setAuthorization(try .digest(user: "ada", password: "secret"))
        }
        #expect(outcome.text == "here", "\(String(describing: outcome.failure))")
        #expect(outcome.targets == ["/v1/first", "/v1/first"])
    }

    @Test("The body of a redirect that is not followed is validated", arguments: bodies, deliveries)
    func handedBack(body: Body, delivery: TransportOptions.Delivery) async throws {
        for status in [301, 302, 303, 307, 308] {
            for policy in [RedirectPolicy.refused, .deciding { _ in .stop }] {
                let outcome = try await outcome(
                    of: body, status: status, field: "Location: there", delivery: delivery
                ) { request, _ in
                    request.redirects = policy
                    request.expectedStatus = [status...status]
                }
                #expect(outcome.failure?.reason == body.reason, "\(outcome)")
                if body.reason == nil { #expect(outcome.text == (body.testDescription == "none" ? "" : "moved")) }
                #expect(outcome.targets == ["/v1/first"])
            }
        }
    }

    @Test("A small body of a redirect allows the connection to be reused")
    func connection() async throws {
        let server = try LoopbackServer { request in
            request.path == "/there"
                ? .response(body: "here")
                : .response(status: 307, headers: [("Location", "/there")], body: String(repeating: "x", count: 60_000))
        }
        let transport = try CurlTransport()
        let request = TransportRequest(.get, try RequestURL(server.url + "/first"))
        let redirected = try await transport.send(request, following: .standard)
        #expect(redirected.response.body.data.map { String(decoding: $0, as: UTF8.self) } == "here")
        #expect(server.connectionCount == 1)
        await transport.shutdown()
    }

    @Test("A long body of a redirect closes its connection before the next request")
    func place() async throws {
        let server = try LoopbackServer { request in
            request.path == "/there"
                ? .response(body: "here")
                : .response(
                    status: 307, headers: [("Location", "/there")], body: String(repeating: "x", count: 1 << 20))
        }
        var configuration = CurlTransport.Configuration()
        (configuration.connectionsPerOrigin, configuration.queueLimit) = (1, 0)
        let transport = try CurlTransport(configuration: configuration)
        let request = TransportRequest(.get, try RequestURL(server.url + "/first"))
        let redirected = try await transport.send(request, following: .standard)
        #expect(redirected.response.body.data.map { String(decoding: $0, as: UTF8.self) } == "here")
        await transport.shutdown()
    }

    @Test("The request of a result, sent again, has its body collected as its options say")
    func published() async throws {
        let server = try LoopbackServer { _ in
            .response(status: 302, headers: [("Location", "/there")], body: "moved")
        }
        let transport = try CurlTransport()
        let proposed = Mutex<TransportRequest?>(nil)
        let policy = RedirectPolicy.deciding { proposal in
            proposed.withLock { $0 = proposal.request }
            return .stop
        }
        let first = TransportRequest(.get, try RequestURL(server.url + "/first"))
        let redirected = try await transport.send(first, following: policy)
        for request in [redirected.request, try #require(proposed.withLock { $0 })] {
            let response = try await transport.send(request)
            #expect(response.body.data.map { String(decoding: $0, as: UTF8.self) } == "moved")
        }
        await transport.shutdown()
    }

    @Test("A redirect whose body was read by another transport is a failure and not an empty body")
    func readInBetween() async throws {
        struct Reading: Transport {
            let transport: CurlTransport
            func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
                let response = try await transport.send(request)
                _ = try await response.body.collect(upTo: 1_000)
                return response
            }
            func shutdown() async { await transport.shutdown() }
        }
        let server = try LoopbackServer { _ in .response(status: 302, body: "no location") }
        let reading = Reading(transport: try CurlTransport())
        let request = TransportRequest(.get, try RequestURL(server.url + "/first"))
        let failure = await #expect(throws: RequestFailure.self) {
            try await reading.send(request, following: .standard)
        }
        #expect(failure?.reason == .invalidRequest)
        await reading.shutdown()
    }
}
