import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("Streamed bodies of a service")
struct StreamedBodyTests {
    private func withService(
        _ body: (HTTPDataRequestService, LoopbackGate) async throws -> Void
    ) async throws {
        let gate = LoopbackGate()
        let server = try LoopbackServer { request in
            request.path == "/held"
                ? .raw([
                    .head(headers: [("Content-Length", "10")]), .text("12345"), .gate(gate),
                    .text("67890"), .keepAlive,
                ])
                : .response(body: "0123456789")
        }
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(server.url), transport: try CurlTransport())
        do { try await body(service, gate) } catch {
            gate.open()
            await service.shutdown()
            throw error
        }
        gate.open()
        await service.shutdown()
        server.stop()
    }

    private func request(_ path: String, finishes: Bool = false) -> DataRequest {
        var request = DataRequest(.get, path)
        request.options.delivery = .streamed
        request.finishesOnShutdown = finishes
        return request
    }

    @Test("A streamed body counts as a running request until it is read or released")
    func counting() async throws {
        try await withService { service, _ in
            let response = try await service.send(request("a"))
            #expect(service.requestsInFlight == 1)
            #expect(try await response.body.collect(upTo: 100) == Data("0123456789".utf8))
            #expect(service.requestsInFlight == 0)
            do {
                let unread = try await service.send(request("a"))
                #expect(unread.status == .ok)
            }
            #expect(service.requestsInFlight == 0)
        }
    }

    @Test("A streamed body can be read to its end after the service and its transport are released")
    func released() async throws {
        let gate = LoopbackGate()
        let server = try LoopbackServer { _ in
            .raw([.head(headers: [("Content-Length", "10")]), .text("12345"), .gate(gate), .text("67890"), .keepAlive])
        }
        var service: HTTPDataRequestService? = HTTPDataRequestService(
            environment: try ConstantEnvironment(server.url), transport: try CurlTransport())
        weak let left = service
        let response = try #require(await service?.send(request("a")))
        service = nil
        #expect(left == nil)
        gate.open()
        #expect(try await response.body.collect(upTo: 100) == Data("1234567890".utf8))
        server.stop()
    }

    @Test("A shutdown cancels a streamed body, and a grace period lets it be read to its end")
    func shutdown() async throws {
        for finishes in [false, true] {
            try await withService { service, gate in
                let response = try await service.send(request("held", finishes: finishes))
                var chunks = response.body.makeAsyncIterator()
                let first = try await chunks.next()
                #expect(first?.count == 5)
                async let end: Void = service.shutdown(grace: finishes ? .seconds(60) : .zero)
                if finishes {
                    gate.open()
                    var rest = 0
                    while let chunk = try await chunks.next() { rest += chunk.count }
                    #expect(rest == 5)
                } else {
                    let failure = await #expect(throws: RequestFailure.self) { try await chunks.next() }
                    #expect(failure?.reason == .cancelled)
                }
                await end
            }
        }
    }

    @Test("The streamed body of an unexpected response is part of the failure, up to 64 KiB")
    func failure() async throws {
        let server = try LoopbackServer { _ in .response(status: 500, body: String(repeating: "x", count: 100_000)) }
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(server.url), transport: try CurlTransport())
        let failure = await #expect(throws: RequestFailure.self) { try await service.send(request("a")) }
        #expect(failure?.reason == .status)
        #expect(failure?.response?.body == Data(repeating: 0x78, count: 64 << 10))
        #expect(service.requestsInFlight == 0)
        await service.shutdown()
    }
}
