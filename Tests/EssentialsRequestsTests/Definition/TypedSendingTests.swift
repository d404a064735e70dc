import Dispatch
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Testing

/// The API of these tests, below the environment.
private enum Notes: APIService {
    struct Problem: Codable, Sendable, Hashable { let problemTitle: String }

    static var errorModel: (any (Decodable & Sendable).Type)? { Problem.self }

    static func at<Response: Sendable>(
        _ path: RequestPath, as type: Response.Type = Response.self
    ) -> APIRequest<Response> {
        request(.get, path)
    }
    static func create(_ note: Note) -> APIRequest<Note> { request(.post, "notes") { RequestContent { note } } }
    static let delete: APIRequest<Void> = request(.delete, "gone")
}

@Suite("Sending definitions")
struct TypedSendingTests {
    private static let server: @Sendable (ServerRequest) -> ServerReply = { request in
        switch request.path {
        case "/v1/gone", "/v1/empty": .response(status: 204)
        case "/v1/echo": .response(headers: [("Content-Type", "text/plain")], body: request.body)
        case "/v1/taken": .json(#"{"problemTitle":"taken"}"#, status: 409)
        default: .json(#"{"id":7,"text":"a"}"#)
        }
    }
    private let note = Note(id: 7, text: "a")

    @Test("A definition returns its model, its bytes, its response or a stream")
    func kinds() async throws {
        try await withServer(Self.server) { service, server in
            #expect(try await service.send(Notes.at("n", as: Note.self)) == note)
            let both = try await service.response(to: Notes.at("n", as: Note.self))
            #expect(both.model == note)
            #expect(both.response.head.status == .ok)
            #expect(try await service.data(of: Notes.at("n", as: Note.self)) == Data(#"{"id":7,"text":"a"}"#.utf8))
            #expect(try await service.send(Notes.at("n", as: Data.self)).count == 19)
            let response: DataResponse = try await service.send(Notes.at("n", as: DataResponse.self))
            #expect(response.head.status == .ok)
            let body: ResponseBody = try await service.send(Notes.at("n", as: ResponseBody.self))
            #expect(try await body.collect(upTo: 100).count == 19)
            let stream = try await service.stream(of: Notes.at("n", as: Note.self))
            #expect(try await stream.body.collect(upTo: 100).count == 19)
            #expect(server.requestCount == 7)
        }
    }

    @Test("204 is Void, nil for an optional model, and emptyBody for a required one")
    func empty() async throws {
        try await withServer(Self.server) { service, server in
            try await service.send(Notes.delete)
            #expect(server.requests.map(\.method) == ["DELETE"])
            #expect(try await service.send(Notes.at("empty", as: Note?.self)) == nil)
            #expect(try await service.send(Notes.at("n", as: Note?.self)) == note)
            let failure = await #expect(throws: RequestFailure.self) {
                try await service.send(Notes.at("empty", as: Note.self))
            }
            #expect(failure?.reason == .emptyBody)
            #expect(failure?.request == "GET \(server.url)/v1/empty")
            try await service.send(Notes.at("n", as: Void.self))
        }
    }

    @Test("An error model comes back in the failure, with the body and the request")
    func errorModel() async throws {
        try await withServer(Self.server) { service, server in
            let failure = await #expect(throws: RequestFailure.self) {
                try await service.send(Notes.at("taken", as: Note.self))
            }
            #expect(failure?.reason == .status)
            #expect(failure?.errorModel(as: Notes.Problem.self) == Notes.Problem(problemTitle: "taken"))
            #expect(failure?.response?.body == Data(#"{"problemTitle":"taken"}"#.utf8))
            #expect(failure?.request == "GET \(server.url)/v1/taken")
            let again = await #expect(throws: RequestFailure.self) {
                try await service.send(Notes.at("taken", as: Note.self))
            }
            #expect(failure == again)
            let other = await #expect(throws: RequestFailure.self) {
                try await service.send(
                    Notes.at("taken", as: Note.self).addingQuery("x", 1).adding("y" as RequestPath).expecting(201))
            }
            #expect(failure != other)
        }
    }

    @Test(
        "Every status has a name in the failure",
        arguments: [
            (400, HTTPResponse.Status.badRequest), (401, .unauthorized), (403, .forbidden), (404, .notFound),
            (405, .methodNotAllowed), (406, .notAcceptable), (408, .requestTimeout), (409, .conflict), (410, .gone),
            (412, .preconditionFailed), (415, .unsupportedMediaType), (422, .unprocessableContent),
            (429, .tooManyRequests), (500, .internalServerError), (503, .serviceUnavailable), (304, .notModified),
        ])
    func statuses(_ code: Int, _ status: HTTPResponse.Status) async throws {
        try await withServer({ _ in
            .response(status: code, headers: [("Retry-After", "120")], body: code == 304 ? "" : "kept")
        }) { service, _ in
            let failure = await #expect(throws: RequestFailure.self) {
                try await service.send(Notes.at("x", as: Void.self))
            }
            #expect(failure?.status == status)
            #expect(failure?.retryAfter() == .seconds(120))
            #expect(failure?.response?.body == Data((code == 304 ? "" : "kept").utf8))
            try await service.send(Notes.at("x", as: Void.self).expecting(.codes([code])))
        }
    }

    @Test("The codecs of a definition encode its body, and decode its model and its error model")
    func codecs() async throws {
        struct Person: Codable, Sendable, Hashable { let firstName: String }
        let snake = CodecRegistry.standard.registering(JSONCodec(keys: .snakeCase), for: MediaPattern(.json))
        try await withServer({ request in
            request.path == "/v1/bad"
                ? .json(#"{"problem_title":"t"}"#, status: 422) : .json(String(decoding: request.body, as: UTF8.self))
        }) { service, server in
            let echo = APIRequest<Person>(.post, "echo", parent: Notes.self) {
                RequestContent(Person(firstName: "Ada"))
            }
            .codecs(snake)
            let person = try await service.send(echo)
            #expect(person == Person(firstName: "Ada"))
            #expect(server.requests.first?.bodyText == #"{"first_name":"Ada"}"#)
            let failure = await #expect(throws: RequestFailure.self) {
                try await service.send(Notes.at("bad", as: Person.self).codecs(snake))
            }
            #expect(failure?.errorModel(as: Notes.Problem.self) == Notes.Problem(problemTitle: "t"))
        }
    }

    @Test("An encoding error surfaces before anything is sent, from every kind of call")
    func encoding() async throws {
        struct Faulty: Codable, Sendable { var number = Double.nan }
        try await withServer { service, server in
            let faulty = APIRequest<Note>(.post, "n") { RequestContent(Faulty()) }
            let failure = await #expect(throws: RequestFailure.self) { try await service.send(faulty) }
            #expect(failure?.reason == .encoding)
            let stream = await #expect(throws: RequestFailure.self) { try await service.stream(of: faulty) }
            #expect(stream?.reason == .encoding)
            let result = await withCheckedContinuation { continuation in
                _ = service.send(faulty) { (result: Result<Note, RequestFailure>) in
                    continuation.resume(returning: result)
                }
            }
            #expect(throws: RequestFailure.self) { try result.get() }
            #expect(server.requestCount == 0)
        }
    }

    @Test("A failed decoding names the request and keeps its reason")
    func decoding() async throws {
        try await withServer({ _ in .json(#"{"id":"x"}"#) }) { service, server in
            let failure = await #expect(throws: RequestFailure.self) {
                try await service.send(Notes.at("n", as: Note.self))
            }
            #expect(failure?.reason == .decoding)
            #expect(failure?.request == "GET \(server.url)/v1/n")
        }
    }

    @Test("A definition is downloaded, and its list is read page by page")
    func downloadsAndPages() async throws {
        try await withServer({ request in
            let page = Int(request.query("page") ?? "1") ?? 1
            let link = page < 3 ? [("Link", "</v1/list?page=\(page + 1)>; rel=\"next\"")] : []
            return .json(#"[{"id":\#(page),"text":"p"}]"#, headers: link)
        }) { service, server in
            var ids: [Int] = []
            for try await page in service.pages(of: Notes.at("list", as: [Note].self)) { ids += page.model.map(\.id) }
            #expect(ids == [1, 2, 3])
            let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID())").path
            defer { try? FileManager.default.removeItem(atPath: path) }
            try await service.download(Notes.at("list", as: [Note].self), to: path)
            #expect(FileManager.default.contents(atPath: path) == Data(#"[{"id":1,"text":"p"}]"#.utf8))
            #expect(server.requestCount == 4)
        }
    }
}
