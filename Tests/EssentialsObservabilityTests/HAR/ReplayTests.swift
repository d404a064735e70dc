import EssentialsHTTP
import EssentialsObservability
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Testing

@Suite("Replaying a record")
struct ReplayTests {
    private func service(
        _ transport: any Transport, _ observers: [any RequestObserver] = []
    ) throws -> HTTPDataRequestService {
        var configuration = HTTPDataRequestService.Configuration()
        configuration.observers = observers
        configuration.redaction.query = .hidden([])
        return HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h.example/v1/"), transport: transport,
            configuration: configuration)
    }

    /// What a program sees of some requests.
    private func outcomes(_ service: HTTPDataRequestService) async -> [String] {
        var outcomes: [String] = []
        for path in ["a", "a", "a", "b?n=1&token=1", "b?n=2&token=1", "missing", "down", "moved"] {
            do throws(RequestFailure) {
                let response = try await service.send(DataRequest(.get, path))
                let body = try await response.body.collect(upTo: 1 << 10)
                outcomes.append("\(response.status.code) \(String(decoding: body, as: UTF8.self))")
            } catch {
                outcomes.append("\(error.reason)")
            }
        }
        return outcomes
    }

    @Test("A program sees the same again, with the order of equal requests")
    func same() async throws {
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/a").answer(text: "first").thenAnswer(.accepted, text: "second é")
        transport.on(.get, "/v1/b", query: ["n": "1", "token": "1"]).answer(text: "one")
        transport.on(.get, "/v1/b", query: ["n": "2", "token": "1"]).answer(
            data: Data([0xff, 0]), headerFields: [.contentType: "image/png"])
        transport.on(.get, "/v1/missing").answer(.notFound, text: "no")
        transport.on(.get, "/v1/down").fail(.connection)
        transport.on(.get, "/v1/moved").answer(.found, headerFields: [.location: "a"])
        let recorder = HARRecorder(bodyLimit: 1 << 10)
        let expected = await outcomes(try service(transport, [recorder]))
        let har = try HAR(parsing: recorder.har.data)
        let replaying = ScriptedTransport()
        replaying.replay(har)
        let replayed = await outcomes(try service(replaying))
        #expect(replayed == expected)
        #expect(replayed.contains("200 one") && replayed.contains("status") && replayed.contains("connection"))
        #expect(replaying.problems == [])
    }

    @Test("With any host, a record of another server answers; hidden queries match, hidden fields are left out")
    func hosts() async throws {
        var entry = HAR.Entry(started: .now, request: HAR.Request(method: "GET", url: "https://other.example/v1/a?…"))
        entry.response = HAR.Response(status: 200)
        entry.response.headers = [
            .init(name: "Set-Cookie", value: "…"), .init(name: "Content-Encoding", value: "br"),
            .init(name: "X-Kept", value: "1"), .init(name: "bad name", value: "1"),
        ]
        var cached = entry
        cached.source = "cache"
        cached.request.url = "https://other.example/v1/b"
        let odd = HAR.Entry(started: .now, request: HAR.Request(method: "", url: "no url"))
        let replaying = ScriptedTransport()
        replaying.replay(HAR(entries: [entry, cached, odd]), anyHost: true)
        let response = try await service(replaying).send(DataRequest(.get, "a?x=1"))
        #expect(response.headerFields.map(\.name.rawName) == ["X-Kept"])
        await #expect(throws: RequestFailure.self) { try await service(replaying).send(DataRequest(.get, "b")) }
    }
}
