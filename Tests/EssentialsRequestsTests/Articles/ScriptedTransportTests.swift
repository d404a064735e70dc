import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article ScriptedTransport", .timeLimit(.minutes(5)))
struct ScriptedTransportArticleTests {
    private struct User: Codable, Hashable, Sendable {
        var name: String
    }

    private struct UserService {
        struct NameTaken: Error {}
        let transport: ScriptedTransport

        func add(_ user: User) async throws {
            let requests = HTTPDataRequestService(
                environment: try ConstantEnvironment("https://api.test/v1/"), transport: transport)
            do throws(RequestFailure) {
                try await requests.post("users", body: user)
            } catch {
                throw error.response?.head.status == .conflict ? NameTaken() : error
            }
        }
    }

    private let user = User(name: "Ann")

    // Article begins
    @Test func `A second user of the same name is refused`() async throws {
        let transport = ScriptedTransport()
        transport.on(.post, "/v1/users").answer(.created, json: user)
            .thenAnswer(.conflict).once()
        let users = UserService(transport: transport)

        try await users.add(user)
        await #expect(throws: UserService.NameTaken.self) {
            try await users.add(user)
        }

        try transport.requests[0].expect(json: ["name": "Ann"])
        #expect(transport.problems == [])  // or: try transport.verify()
    }
    // Article ends

    @Test("The article on scripts shows variables in JSON and header fields")
    func fields() async throws {
        let transport = ScriptedTransport()
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.test/v1/"), transport: transport)
        let id = 7

        // Article begins
        transport.on(.get, "/v1/users/7").answer(json: [
            "id": JSONValue(id), "name": "Ann", "tags": ["a", nil],
        ])
        // Article ends
        #expect(try await requests.get("users/7", as: String.self) == #"{"id":7,"name":"Ann","tags":["a",null]}"#)

        // Article begins
        transport.on(.get, "/v1/users").answer(
            json: [user], headerFields: [.eTag: "\"7\"", .cacheControl: "no-cache"])
        transport.on(.get, "/v1/old").answer(
            .found,
            headerFields: HTTPFields(["Location": "users", "X-Moved": "yes"]))
        transport.on(
            .get, "/v1/quota", headerFields: HTTPFields(["X-Tenant": "acme"])
        ).answer { request in
            var answer = ScriptedAnswer(.noContent)
            answer.headerFields["X-Tenant"] = request.headerFields["X-Tenant"]
            return answer
        }
        // Article ends
        let moved = try await requests.get("old")
        #expect(moved.headerFields[.eTag] == "\"7\"")
        #expect(moved.headerFields[.contentType] == "application/json")
        let quota = try await requests.get("quota", headerFields: HTTPFields(["X-Tenant": "acme"]))
        #expect(quota.headerFields["X-Tenant"] == "acme")
        let failure = await #expect(throws: RequestFailure.self) { try await requests.get("quota") }
        #expect(failure?.reason == .invalidRequest)
    }

    @Test("The article on scripts shows rules with header fields and bodies")
    func bodies() async throws {
        let transport = ScriptedTransport()
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.test/v1/"), transport: transport)
        let picture = Data("png".utf8)

        // Article begins
        transport.on(
            .put, "/v1/notes/*", headerFields: [.ifMatch: "\"1\""],
            body: .text("# Milk")
        ).answer(.noContent)
        transport.on(.put, "/v1/pictures/*", body: .data(picture)).answer(.created)
        // Article ends
        var note = DataRequest(.put, "notes/1", body: .text("# Milk"))
        note.headerFields = HTTPFields(["If-Match": "\"1\"", "X-Tenant": "acme"])
        #expect(try await requests.send(note).status == .noContent)
        // Article begins
        try transport.requests[0].expect(
            headerFields: HTTPFields(["X-Tenant": "acme"]))
        // Article ends
        // Article begins
        let sent = transport.requests[0]
        #expect(sent.bodyText == "# Milk" && sent.isBodyComplete)
        // Article ends
        #expect(try await requests.put("pictures/1", body: picture).status == .created)
        let failure = await #expect(throws: RequestFailure.self) { try await requests.put("notes/1", body: "# Milk") }
        #expect(failure?.reason == .invalidRequest)
        #expect(transport.problems.count == 1)
    }

    @Test("The article on scripts shows a delay on the clock and a stream that breaks")
    func time() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(clock: clock)
        let request = TransportRequest(.get, try RequestURL("https://api.test/slow"))

        // Article begins
        transport.on(.get, "/slow").answer(text: "x", after: .seconds(2))
        let task = Task { try await transport.send(request) }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(2))
        let response = try await task.value
        // Article ends
        #expect(response.status == .ok)

        // Article begins
        transport.on(.get, "/events").answer(pieces: [
            "data: 1\n\n", .pause(.seconds(5)), .failure(.interrupted),
        ])
        // Article ends
        var streamed = TransportRequest(.get, try RequestURL("https://api.test/events"))
        streamed.options.delivery = .streamed
        let body = try await transport.send(streamed).body
        let (texts, text) = AsyncStream.makeStream(of: String.self)
        let reading = Task {
            defer { text.finish() }
            for try await event in body.serverSentEvents() { text.yield(event.data) }
        }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(5))
        let failure = await #expect(throws: RequestFailure.self) { try await reading.value }
        var events: [String] = []
        for await text in texts { events.append(text) }
        #expect(events == ["1"])
        #expect(failure?.reason == .interrupted)
    }
}
