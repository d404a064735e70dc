import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import Testing

@Suite struct RequestsOverNetworkTests {
    @Test("A model is fetched and decoded")
    func get() async throws {
        try await withServer({ request in
            .response(
                headers: [("Content-Type", "application/json")],
                body: #"{"id":7,"text":"\#(request.query("q") ?? "")"}"#)
        }) { service, server in
            let note: Note = try await service.get("notes", parameters: ["q": "a b"])
            #expect(note == Note(id: 7, text: "a b"))
            #expect(server.requests.map(\.target) == ["/v1/notes?q=a%20b"])
            #expect(server.requests.first?.allHeaders("Accept") == ["application/json"])
        }
    }

    @Test("A posted model reaches the server once, as JSON, and the response is decoded")
    func post() async throws {
        try await withServer({
            .response(status: 201, headers: [("Content-Type", $0.header("Content-Type") ?? "")], body: $0.body)
        }) { service, server in
            let note = Note(id: 1, text: "é/\n")
            #expect(try await service.post("notes", body: note, as: Note.self) == note)
            #expect(server.requestCount == 1)
            let request = try #require(server.requests.first)
            #expect(request.method == "POST")
            #expect(request.target == "/v1/notes")
            #expect(request.allHeaders("Content-Type") == ["application/json; charset=utf-8"])
            #expect(request.bodyText == #"{"id":1,"text":"é/\n"}"#)
        }
    }

    @Test("A redirect is followed by default, and is the failure status if the request says so")
    func redirect() async throws {
        try await withServer({ request in
            request.path == "/v1/a"
                ? .response(status: 302, headers: [("Location", "/v1/other")])
                : .response(headers: [("Content-Type", "application/json")], body: #"{"id":7,"text":"other"}"#)
        }) { service, server in
            let note = try await service.response(to: DataRequest(.get, "a"), as: Note.self)
            #expect(note.model == Note(id: 7, text: "other"))
            #expect(note.response.url?.path == "/v1/other")
            #expect(note.response.redirects.map(\.status.code) == [302])
            #expect(server.requests.map(\.path) == ["/v1/a", "/v1/other"])
            var request = DataRequest(.get, "a")
            request.redirects = .refused
            let failure = await #expect(throws: RequestFailure.self) { try await service.send(request) }
            #expect(failure?.reason == .status)
            #expect(failure?.response?.head.headerFields[.location] == "/v1/other")
            #expect(server.requestCount == 3)
        }
    }

    @Test("Cancelling a token while the server is silent fails with cancelled")
    func cancelToken() async throws {
        let arrived = LoopbackGate()
        try await withServer({ _ in
            arrived.open()
            return .hang
        }) { service, server in
            let result = await withCheckedContinuation { continuation in
                let token = service.get("a", deserializeTo: Note.self) { continuation.resume(returning: $0) }
                Task {
                    await arrived.opened()
                    token.cancel()
                }
            }
            let failure = #expect(throws: RequestFailure.self) { try result.get() }
            #expect(failure?.reason == .cancelled)
            #expect(server.requestCount == 1)
        }
    }

    @Test("Cancelling a task while the server is silent fails with cancelled")
    func cancelTask() async throws {
        let arrived = LoopbackGate()
        try await withServer({ _ in
            arrived.open()
            return .hang
        }) { service, _ in
            let task = Task { () async throws(RequestFailure) -> Note in try await service.get("a") }
            await arrived.opened()
            task.cancel()
            let failure = await #expect(throws: RequestFailure.self) { try await task.value }
            #expect(failure?.reason == .cancelled)
        }
    }
}
