import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials
import Testing

@Suite("Requests for stored responses")
struct OnlyStoredTests {
    private func check(_ failure: RequestFailure?, _ transport: StubTransport) {
        #expect(failure?.reason == .notCached)
        #expect(failure?.phase == .preparation)
        #expect(failure?.transmission == .unsent)
        #expect(failure?.host == "h")
        #expect(failure?.remedy?.contains("only-if-cached") == true)
        #expect(transport.requests.isEmpty)
    }

    @Test(
        "Without a response cache, a request that accepts only a stored response fails as notCached and is not sent",
        arguments: ["only-if-cached", "Only-If-Cached", "max-age=5 , only-if-cached", "only-if-cached, no-transform"])
    func ownField(value: String) async throws {
        let fixture = try ServiceFixture()
        let request = DataRequest(.get, "a", headerFields: [.cacheControl: value])
        check(await #expect(throws: RequestFailure.self) { try await fixture.service.send(request) }, fixture.transport)
        let model = await #expect(throws: RequestFailure.self) {
            try await fixture.service.response(to: request, as: JSONValue.self)
        }
        check(model, fixture.transport)
    }

    @Test("The directive counts wherever it comes from: a further line, an interceptor or the environment")
    func otherSources() async throws {
        var request = DataRequest(.get, "a", headerFields: [.cacheControl: "max-age=5"])
        request.headerFields.append(HTTPField(name: .cacheControl, value: "only-if-cached"))
        let lines = try ServiceFixture()
        check(await #expect(throws: RequestFailure.self) { try await lines.service.send(request) }, lines.transport)
        let plain = DataRequest(.get, "a")
        let intercepted = try ServiceFixture {
            $0.interceptors = [
                Intercepting { try $0.add(HTTPField(name: .cacheControl, value: "only-if-cached")) }
            ]
        }
        check(
            await #expect(throws: RequestFailure.self) { try await intercepted.service.send(plain) },
            intercepted.transport)
        let environment = try ServiceFixture(fields: [.cacheControl: "only-if-cached"])
        check(
            await #expect(throws: RequestFailure.self) { try await environment.service.send(plain) },
            environment.transport)
    }

    @Test("Downloads and open requests for stored responses are not sent either, and leave no file")
    func otherPaths() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let fixture = try ServiceFixture()
        let download = await #expect(throws: RequestFailure.self) {
            try await fixture.service.download(
                DataRequest(.get, "a", headerFields: [.cacheControl: "only-if-cached"]), to: path)
        }
        check(download, fixture.transport)
        #expect(!FileManager.default.fileExists(atPath: path))
        let transport = StubTransport()
        let open = HTTPDataRequestService.forAnyServer(over: transport)
        let request = DataRequest(at: try RequestURL("https://h/a"), headerFields: [.cacheControl: "only-if-cached"])
        check(await #expect(throws: RequestFailure.self) { try await open.send(request) }, transport)
    }

    @Test(
        "Other directives are sent unchanged",
        arguments: ["no-cache", "max-age=0", "only-if-cached-2", "x=\"only-if-cached\"", "max-stale, no-store"])
    func others(value: String) async throws {
        let fixture = try ServiceFixture()
        let sent = try await fixture.sent(DataRequest(.get, "a", headerFields: [.cacheControl: value]))
        #expect(sent.headerFields[.cacheControl] == value)
    }
}
