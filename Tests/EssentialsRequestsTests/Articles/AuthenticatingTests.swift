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
