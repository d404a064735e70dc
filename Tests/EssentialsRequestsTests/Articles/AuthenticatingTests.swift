import EssentialsTestKit
import ServiceEssentials
import Testing

@Suite("The article Authenticating")
struct AuthenticatingTests {
    private struct CameraStatus: Codable, Hashable, Sendable {
        var isRecording = true
    }

    private struct Settings: Codable, Sendable {
        var name = "door"
    }

    @Test("The article on authenticating shows Digest credentials and a failure")
    func digest() async throws {
        let digest = DigestServer { _ in
            .response(headers: [("Content-Type", "application/json")], body: #"{"isRecording":true}"#)
        }
        let server = try LoopbackServer { digest.reply(to: $0) }
        let (address, password, settings) = (server.url, DigestServer.password, Settings())

        // Article begins
        let camera = try HTTPDataRequestService(
            environment: ConstantEnvironment(address))
        camera.setAuthorization(try .digest(user: "ada", password: password))
        let status: CameraStatus = try await camera.get("status")
        // Article ends
        #expect(status == CameraStatus())
        #expect(server.answers == [false, true])

        camera.setAuthorization(try .digest(user: "ada", password: "another"))
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }

        // Article begins
        do throws(RequestFailure) {
            try await camera.put("settings", body: settings)
        } catch {
            show(
                error.response?.head.status == .unauthorized
                    ? error.remedy ?? "" : error.message)
        }
        // Article ends
        #expect(shown == ["Check the user name and the password. The server did not accept them."])
        try await minima(camera, password)
        await camera.shutdown()
        server.stop()
    }

    @Test("The article on authenticating shows credentials over plain http, and how a program refuses them")
    func plaintext() async throws {
        let (transport, password) = (ScriptedTransport(), "s3cret")
        transport.on(.get, "/status").answer(json: CameraStatus())
        // Article begins
        let camera = HTTPDataRequestService(
            environment: try ConstantEnvironment("http://camera.local/"),
            transport: transport)
        // readable on the way to the camera
        camera.setAuthorization(try .basic(user: "ada", password: password))
        let status: CameraStatus = try await camera.get("status")
        // Article ends
        #expect(status == CameraStatus())
        try transport.requests[0].expect(headerNames: [.authorization])

        transport.on(.get, "/moved").answer(.found, headerFields: [.location: "https://camera.local/status"])
        try await camera.get("moved")
        #expect(transport.requests.map(\.url.origin.scheme) == [.http, .http, .https])
        try transport.requests[2].expect(absent: [.authorization])

        func check(_ address: String) throws {
            // Article begins
            let base = try RequestURL(address)
            guard base.origin.scheme == .https else {
                throw RequestFailure(
                    .plaintextRefused, "\(base.origin) is not encrypted.",
                    remedy: "Use https.", host: base.origin.host.text)
            }
            // Article ends
        }
        try check("https://api.test/")
        let failure = #expect(throws: RequestFailure.self) { try check("http://api.test/") }
        #expect(failure?.reason == .plaintextRefused)
        for (endpoint, isLocal) in [("http://login.test/token", false), ("http://localhost:8080/token", true)] {
            let result = Result {
                try OAuth2Tokens.Configuration(endpoint: endpoint, clientID: "shop", clientSecret: password)
            }
            #expect(((try? result.get()) != nil) == isLocal)
        }
        await camera.shutdown()
    }

    private func minima(_ camera: HTTPDataRequestService, _ password: String) async throws {
        let server = camera
        // Article begins
        camera.setAuthorization(
            try .digest(user: "ada", password: password, minimum: .any))
        server.setAuthorization(
            try .digest(
                user: "ada", password: password, minimum: DigestMinimum(.sha256)))
        // Article ends
        let failure = await #expect(throws: RequestFailure.self) { try await server.get("status") }
        #expect(failure?.reason == .authorization)
    }
}
