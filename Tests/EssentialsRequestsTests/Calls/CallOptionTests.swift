import Dispatch
import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials
import Testing

@Suite("A single call's options")
struct CallOptionTests {
    private let fields: HTTPFields = [.acceptLanguage: "en"]
    private let options: TransportOptions = {
        var options = TransportOptions()
        options.totalTimeout = .seconds(3)
        return options
    }()

    /// Responds with a status that calls do not expect by default.
    private func fixture() throws -> ServiceFixture {
        try ServiceFixture(StubTransport(status: 404, #"{"id":1,"text":"a"}"#))
    }

    private func expectOptions(of requests: [TransportRequest], _ count: Int) {
        #expect(requests.count == count)
        #expect(requests.allSatisfy { $0.headerFields[.acceptLanguage] == "en" })
        #expect(requests.allSatisfy { $0.options.totalTimeout == .seconds(3) })
    }

    @Test("Header fields, expected statuses and transport options are accepted by every method")
    func calls() async throws {
        let fixture = try fixture()
        let (service, note) = (fixture.service, Note(id: 1, text: "a"))
        try await service.get("p", headerFields: fields, expecting: 404, options: options)
        try await service.delete("p", headerFields: fields, expecting: 404, options: options)
        _ = try await service.head("p", headerFields: fields, expecting: 404, options: options)
        _ = try await service.options("p", headerFields: fields, expecting: 404, options: options)
        try await service.post("p", body: note, headerFields: fields, expecting: 404, options: options)
        try await service.put("p", body: note, headerFields: fields, expecting: 404, options: options)
        try await service.patch("p", body: note, headerFields: fields, expecting: 404, options: options)
        try await service.post("p", body: .parameters(["a": 1]), headerFields: fields, expecting: 404, options: options)
        try await service.put("p", body: .parameters(["a": 1]), headerFields: fields, expecting: 404, options: options)
        try await service.patch(
            "p", body: .parameters(["a": 1]), headerFields: fields, expecting: 404, options: options)
        let read: Note = try await service.get("p", headerFields: fields, expecting: 404, options: options)
        #expect(read == note)
        _ = try await service.post(
            "p", body: note, headerFields: fields, expecting: [200...299, 404...404], options: options, as: Note.self)
        expectOptions(of: fixture.transport.requests, 12)
        await #expect(throws: RequestFailure.self) { try await service.get("p") }
    }

    @Test("Calls with handlers accept the same options")
    func handlers() async throws {
        let fixture = try fixture()
        let (service, note) = (fixture.service, Note(id: 1, text: "a"))
        let (fields, options) = (fields, options)
        let read = await withCheckedContinuation { continuation in
            service.get(
                "p", headerFields: fields, expecting: 404, options: options, deserializeTo: Note.self
            ) { continuation.resume(returning: $0) }
        }
        #expect(try read.get() == note)
        let written = await withCheckedContinuation { continuation in
            service.send(.post("p", body: note, headerFields: fields, expecting: 404, options: options)) {
                continuation.resume(returning: $0)
            }
        }
        #expect(try written.get().status == .notFound)
        expectOptions(of: fixture.transport.requests, 2)
    }

    @Test("A handler receives the response together with the model, for a request and for a builder")
    func responses() async throws {
        let fixture = try fixture()
        let builder = RequestBuilder(.get, "p").expecting(404)
        let results = await withCheckedContinuation { continuation in
            fixture.service.response(to: builder, deserializeTo: Note.self) { first in
                fixture.service.response(to: DataRequest(.get, "p", expecting: 404), deserializeTo: Note.self) {
                    continuation.resume(returning: [first, $0])
                }
            }
        }
        for result in results {
            let (model, response) = (try result.get().model, try result.get().response)
            #expect(model == Note(id: 1, text: "a"))
            #expect(response.status == .notFound)
        }
        let awaited = try await fixture.service.response(to: builder, as: Note.self)
        #expect(awaited.response.status == .notFound)
    }

    @Test("A download with a handler accepts a path or a builder, and the handler receives a builder's failure")
    func downloads() async throws {
        let fixture = try ServiceFixture(StubTransport("film"))
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let fields = fields
        let byPath = await withCheckedContinuation { continuation in
            fixture.service.download(
                "films/1", parameters: ["part": 1], headerFields: fields, to: directory.path + "/1"
            ) { continuation.resume(returning: $0) }
        }
        #expect(try byPath.get().bytes == 4)
        #expect(try fixture.last().url.target == "/v1/films/1?part=1")
        #expect(try fixture.last().headerFields[.acceptLanguage] == "en")
        let built = await withCheckedContinuation { continuation in
            fixture.service.download(RequestBuilder(.get, "films/2"), to: directory.path + "/2") {
                continuation.resume(returning: $0)
            }
        }
        #expect(try built.get().bytes == 4)
        let wrong = await withCheckedContinuation { continuation in
            fixture.service.download(RequestBuilder(.get, "films/3").header("a b", "x"), to: directory.path + "/3") {
                continuation.resume(returning: $0)
            }
        }
        #expect(throws: RequestFailure.self) { try wrong.get() }
        #expect(fixture.transport.requests.count == 2)
    }

    @Test("A builder accepts single expected statuses, including variables")
    func statuses() throws {
        let code = 404
        let several = try RequestBuilder(.get, "a").expecting(201, code).build().expectedStatus
        #expect([201, 404].allSatisfy(several.contains))
        #expect(![200, 204, 400].contains(where: several.contains))
        let one = try RequestBuilder(.get, "a").expecting(code).build().expectedStatus
        #expect(one.contains(404) && !one.contains(200))
    }
}
