import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article ServerSentEvents", .timeLimit(.minutes(5)))
struct ServerSentEventsTests {
    private struct Price: Decodable {
        var amount: Int
    }

    private static let stream = [("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked")]

    private static func request() -> DataRequest {
        // Article begins
        var request = DataRequest(.get, "events")
        request.headerFields[.accept] = "text/event-stream"
        request.expectedStatus = 200
        request.options.delivery = .streamed
        request.options.idleTimeout = nil
        // Article ends
        return request
    }

    // Article begins
    func follow(
        _ request: DataRequest, with requests: any DataRequestService,
        show: (ServerSentEvent) -> Void
    ) async throws {
        for try await event in requests.events(of: request) { show(event) }
    }
    // Article ends

    @Test("The article on events shows how a stream is read")
    func reading() async throws {
        let body = "event: price\ndata: {\"amount\": 3}\n\ndata: x\n\nevent: price\ndata: {\"amount\":\ndata: 4}\n\n"
        let server = try LoopbackServer { _ in .response(headers: [("Content-Type", "text/event-stream")], body: body) }
        let requests = try HTTPDataRequestService(environment: ConstantEnvironment(server.url + "/v1/"))
        let request = Self.request()
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }

        // Article begins
        let response = try await requests.send(request)
        for try await event in response.body.serverSentEvents()
        where event.event == "price" {
            let price = try JSONDecoder().decode(
                Price.self, from: Data(event.data.utf8))
            show("\(price.amount)")
        }
        // Article ends

        #expect(shown == ["3", "4"])
        #expect(server.requests.map { $0.header("Accept") } == ["text/event-stream"])
        await requests.shutdown()
    }

    @Test("The article's loop reconnects to a server after a broken and an ended stream, until the task is cancelled")
    func reconnecting() async throws {
        let server = try LoopbackServer { request in
            switch request.number {
            case 0: .raw([.head(headers: Self.stream), .chunk(Array("retry: 1\nid: 1\ndata: a\n\n".utf8)), .reset])
            case 1: .chunked(headers: Array(Self.stream.prefix(1)), chunks: [Array("id: 2\ndata: b\n\n".utf8)])
            default: .raw([.head(headers: Self.stream), .chunk(Array("data: c\n\n".utf8)), .hang])
            }
        }
        let requests = try HTTPDataRequestService(environment: ConstantEnvironment(server.url + "/v1/"))
        let request = Self.request()
        let (texts, text) = AsyncStream.makeStream(of: String.self)
        @Sendable func show(_ shown: String) { text.yield(shown) }

        // Article begins
        let following = Task {
            try await follow(request, with: requests) { show($0.data) }
        }
        // Article ends
        var shown: [String] = []
        for await text in texts {
            shown.append(text)
            if text == "c" { break }
        }
        // Article begins
        following.cancel()
        // Article ends
        let failure = await #expect(throws: RequestFailure.self) { try await following.value }

        #expect(failure?.reason == .cancelled)
        #expect(shown == ["a", "b", "c"])
        #expect(server.requests.map { $0.header("Last-Event-ID") } == [nil, "1", "2"])
        await requests.shutdown()
    }

    @Test("A shutdown of the service ends the article's loop")
    func closing() async throws {
        let server = try LoopbackServer { _ in
            .response(headers: [("Content-Type", "text/event-stream")], body: "retry: 50\ndata: a\n\n")
        }
        let requests = try HTTPDataRequestService(environment: ConstantEnvironment(server.url + "/v1/"))
        let (texts, text) = AsyncStream.makeStream(of: String.self)
        let following = Task { try await follow(Self.request(), with: requests) { text.yield($0.data) } }
        for await _ in texts { break }
        await requests.shutdown()
        let failure = await #expect(throws: RequestFailure.self) { try await following.value }
        // The stream may not have been read to its end yet when the service is shut down.
        #expect([.closed, .cancelled].contains(failure?.reason))
    }

    @Test("The article on events shows a test over a scripted transport")
    func scripted() async throws {
        let request = Self.request()
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }

        // Article begins
        let fields: HTTPFields = [.contentType: "text/event-stream"]
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/events")
            .answer(
                pieces: ["retry: 1\nid: 7\ndata: one\n\n", .failure(.interrupted)],
                headerFields: fields
            )
            .thenAnswer(pieces: ["data: two\n\nid: 8\n\n"], headerFields: fields)
            .thenAnswer(.noContent)
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.test/v1/"),
            transport: transport)

        try await follow(request, with: requests) { show($0.data) }
        #expect(
            transport.requests.map { $0.headerFields["Last-Event-ID"] } == [
                nil, "7", "8",
            ])
        // Article ends
        #expect(shown == ["one", "two"])
    }
}
