import EssentialsHTTP
import EssentialsRequests
import Testing

@Suite("Header fields with text names")
struct TextHeaderTests {
    @Test("A subscript with a text name sets, reads and removes a field regardless of case")
    func subscripts() async throws {
        var request = DataRequest(.get, "a")
        request.headerFields["X-Name"] = "v"
        request.headerFields["accept"] = "text/plain"
        #expect(request.headerFields["x-name"] == "v")
        #expect(request.headerFields[.accept] == "text/plain")
        request.headerFields["X-NAME"] = nil
        #expect(request.headerFields["X-Name"] == nil)
        #expect(request.headerFields["no name"] == nil)
        request.headerFields["no name"] = nil
        let sent = try await ServiceFixture().sent(request)
        #expect(sent.headerFields[.accept] == "text/plain")
    }

    @Test("A dictionary of texts becomes header fields of a request and of a builder")
    func dictionaries() async throws {
        let values = ["X-B": "2", "X-A": "1"]
        let fixture = try ServiceFixture()
        let sent = try await fixture.sent(DataRequest(.get, "a", headerFields: HTTPFields(values)))
        #expect(sent.headerFields["X-A"] == "1")
        #expect(sent.headerFields["X-B"] == "2")
        #expect(HTTPFields(values).map(\.name.canonicalName) == ["x-a", "x-b"])
        try await fixture.service.send(RequestBuilder(.get, "a").headers(values))
        #expect(try fixture.last().headerFields["x-b"] == "2")
    }

    @Test(
        "An invalid name or value is refused with invalidRequest and its name, and nothing is sent",
        arguments: [("a b", "x"), ("", "x"), ("X-Name", "a\r\nb"), ("X-Name", " a"), ("näme", "x")])
    func refused(name: String, value: String) async throws {
        let fixture = try ServiceFixture()
        let request = {
            var request = DataRequest(.get, "a")
            request.headerFields[name] = value
            return request
        }()
        let failures = [
            await #expect(throws: RequestFailure.self) { try await fixture.service.send(request) },
            await #expect(throws: RequestFailure.self) {
                try await fixture.service.get("a", headerFields: HTTPFields([name: value]))
            },
            await #expect(throws: RequestFailure.self) {
                try await fixture.service.download(request, to: "/nowhere/a")
            },
        ]
        for failure in failures {
            #expect(failure?.reason == .invalidRequest)
            #expect(failure?.message.contains(name) == true)
        }
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test("An invalid name set by an interceptor or environment is refused too")
    func others() async throws {
        let intercepted = try ServiceFixture {
            $0.interceptors = [Intercepting { draft in draft.headerFields["a b"] = "x" }]
        }
        let inEnvironment = try ServiceFixture(fields: HTTPFields(["a b": "x"]))
        for fixture in [intercepted, inEnvironment] {
            let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
            #expect(failure?.reason == .invalidRequest)
            #expect(fixture.transport.requests.isEmpty)
        }
    }
}
