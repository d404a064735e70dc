import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article InterceptingRequests")
struct InterceptingRequestsTests {
    private struct Film: Codable, Hashable, Sendable {
        var title = "Metropolis"
    }

    // Article begins
    enum Language: String, FormParameterValue { case en, de }

    struct Localization: RequestInterceptor {
        let language: Language
        let session: UUID

        func prepare(_ draft: inout RequestDraft) async throws {
            draft.parameters["lang"] = language
            draft.parameters["session"] = session.uuidString
        }
    }
    // Article ends

    @Test("The article on interception shows parameters of other types than text")
    func parameters() async throws {
        let transport = ScriptedTransport()
        let session = UUID()
        transport.on(.get, "/v1/films", query: ["lang": "de", "session": session.uuidString]).answer().expected()
        var configuration = HTTPDataRequestService.Configuration()
        configuration.interceptors = [Localization(language: .de, session: session)]
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.test/v1/"), transport: transport,
            configuration: configuration)
        #expect(try await requests.get("films").status == .ok)
        try transport.verify()
    }

    // Article begins
    final class Quota: RequestInterceptor {
        private let count = Mutex<Int?>(nil)
        var remaining: Int? { count.withLock { $0 } }

        func received(_ outcome: HopOutcome) async throws {
            guard let text = outcome.headerFields["RateLimit-Remaining"],
                let number = Int(text)
            else { return }
            count.withLock { $0 = number }
        }
    }
    // Article ends

    // Article begins
    struct InvalidInput: Error, Decodable {
        var field: String
    }

    struct InputErrors: RequestInterceptor {
        func received(_ outcome: HopOutcome) async throws {
            guard outcome.status == .unprocessableContent,
                let body = outcome.body
            else { return }
            throw try JSONDecoder().decode(InvalidInput.self, from: body)
        }
    }
    // Article ends

    // Article begins
    struct Offline: DataRequestDecorator {
        let next: any DataRequestService
        let saved: [String: Data]

        func send(
            _ request: DataRequest
        ) async throws(RequestFailure) -> DataResponse {
            do throws(RequestFailure) {
                return try await next.send(request)
            } catch {
                guard error.reason == .connection,
                    let body = saved[request.path]
                else { throw error }
                return DataResponse(body: body)
            }
        }
    }
    // Article ends

    @Test("The article on interception shows fields of all responses, fields of one, and errors of an API")
    func receiving() async throws {
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/films").answer(
            .ok, json: [Film()], headerFields: HTTPFields(["X-Total-Count": "41", "RateLimit-Remaining": "9"]))
        transport.on(.post, "/v1/films").answer(.unprocessableContent, json: ["field": "title"])
            .thenAnswer(.failure(.connection))
        let shown = Mutex<[String]>([])
        func show(_ text: String) { shown.withLock { $0.append(text) } }
        func mark(_ field: String) { shown.withLock { $0.append("mark \(field)") } }
        let film = Film()

        // Article begins
        let quota = Quota()
        var configuration = HTTPDataRequestService.Configuration()
        configuration.interceptors = [quota, InputErrors()]
        // Article ends

        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.example.com/v1/"), transport: transport,
            configuration: configuration)

        // Article begins
        let page = try await requests.response(
            to: DataRequest(.get, "films"), as: [Film].self)
        let total = page.response.headerFields["X-Total-Count"]
        // Article ends
        #expect(total == "41")
        #expect(quota.remaining == 9)

        for _ in 0..<2 {
            // Article begins
            do throws(RequestFailure) {
                try await requests.post("films", body: film)
            } catch {
                if let invalid = error.underlying as? InvalidInput {
                    mark(invalid.field)
                } else {
                    show(error.message)
                }
            }
            // Article ends
        }
        let texts = shown.withLock { $0 }
        #expect(texts.first == "mark title")
        #expect(texts.count == 2)
    }

    @Test("The article on interception shows a decorator that a locator closes with its service")
    func decorator() async throws {
        let locator = ServiceLocator(name: "app")
        let server = try LoopbackServer { _ in .response(body: "[]") }
        let environment = try ConstantEnvironment(server.url + "/v1")
        server.stop()
        try locator.register(environment, as: (any EnvironmentService).self)
        let saved = ["films": Data(#"[{"title":"Metropolis"}]"#.utf8)]

        // Article begins
        try locator.registerLazy(HTTPDataRequestService.self) { locator in
            try HTTPDataRequestService(
                environment: locator.resolve((any EnvironmentService).self))
        }
        try locator.registerLazy((any AuthorizationService).self) {
            try $0.resolve(HTTPDataRequestService.self)
        }
        try locator.registerLazy((any DataRequestService).self) { locator in
            try Offline(
                next: locator.resolve(HTTPDataRequestService.self), saved: saved)
        }
        // Article ends

        let requests = try locator.resolve((any DataRequestService).self)
        try locator.resolve((any AuthorizationService).self).setAuthorization(.bearer("t"))
        #expect(try await requests.get("films") == [Film()])
        let failure = await #expect(throws: RequestFailure.self) { try await requests.get("actors") }
        #expect(failure?.reason == .connection)
        await locator.close()
        let closed = await #expect(throws: RequestFailure.self) { try await requests.get("films") }
        #expect(closed?.reason == .closed)
    }
}
