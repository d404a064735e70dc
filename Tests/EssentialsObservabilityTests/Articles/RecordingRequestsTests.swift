import EssentialsHTTP
import EssentialsObservability
import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article RecordingRequests")
struct RecordingRequestsTests {
    @Test("The article on recording shows how exchanges are kept, written and replayed")
    func recording() async throws {
        var configuration = HTTPDataRequestService.Configuration()
        // Article begins
        let recorder = HARRecorder(limit: 500)
        configuration.observers = [recorder]
        // Article ends
        // Article begins
        let detailed = HARRecorder(bodyLimit: 16 << 10)
        // Article ends
        configuration.observers.append(detailed)
        // Article begins
        configuration.redaction.query = .hidden(["email"])
        configuration.redaction.hiddenFields = [.userAgent]
        // Article ends
        let scripted = ScriptedTransport()
        scripted.on(.get, "/v1/users/7").answer(text: "Ada")
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.example.com/v1/"), transport: scripted,
            configuration: configuration)
        var request = DataRequest(.get, "users/7?email=a@b.c&n=1")
        request.headerFields[.authorization] = "Bearer s3cret"
        _ = try await service.send(request)
        #expect(recorder.har.entries.first?.request.url == "https://api.example.com/v1/users/7?email=…&n=1")
        let baseURL = try RequestURL("https://api.example.com/v1/")
        request.path = "users/7"
        // Article begins
        let command = try request.curlCommand(under: baseURL)
        // curl -X 'GET' -H 'Authorization: …' --globoff 'https://…/users/7'
        // Article ends
        #expect(command == "curl -X 'GET' -H 'Authorization: …' --globoff 'https://api.example.com/v1/users/7'")
        let recorded = detailed.har
        // Article begins
        let transport = ScriptedTransport()
        transport.replay(recorded, anyHost: true)
        // Article ends
        let replayed = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://test.example/v1/"), transport: transport)
        #expect(try await replayed.data(of: RequestBuilder(.get, "users/7?email=x&n=1")) == Data("Ada".utf8))
    }

    /// It is compiled and not called, because it writes to a fixed place.
    private func write(_ recorder: HARRecorder) throws {
        // Article begins
        try recorder.har.write(to: "/tmp/requests.har")
        // Article ends
    }
}
