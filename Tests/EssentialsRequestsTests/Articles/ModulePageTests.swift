import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("Module pages")
struct ModulePageTests {
    private struct User: Codable, Hashable, Sendable {
        var id = 1
        var name = "Ada"
    }

    @Test("The page of the umbrella module shows a service that is created at its first use")
    func umbrella() async throws {
        let pin = try TestAuthority(name: "One").certificate.publicKeyPin
        let backupPin = try TestAuthority(name: "Two").certificate.publicKeyPin

        // ServiceEssentials begins
        let locator = ServiceLocator(name: "app")
        try locator.register(ConstantEnvironment("https://api.example.com/v1/"), as: (any EnvironmentService).self)
        try locator.registerLazy((any DataRequestService).self) { locator in
            try HTTPDataRequestService(
                environment: locator.resolve((any EnvironmentService).self),
                trust: TrustPolicy(pins: [.publicKey(pin), .publicKey(backupPin)]))
        }
        // ServiceEssentials ends

        let service = try locator.resolve((any DataRequestService).self)
        #expect(service is HTTPDataRequestService)
        await locator.close()
        let failure = await #expect(throws: RequestFailure.self) { try await service.get("users") }
        #expect(failure?.reason == .closed)
    }

    @Test("The page of the test kit shows a script and a server")
    func testKit() async throws {
        let user = User()

        // EssentialsTestKit begins
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/users", query: ["role": "admin"]).answer(json: [user])
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.test/v1/"), transport: transport)
        // EssentialsTestKit ends
        #expect(try await requests.get("users", parameters: ["role": "admin"]) == [user])

        // EssentialsTestKit begins
        let authority = try TestAuthority(name: "Test authority")
        let certificate = try authority.issue(TestCertificate.Template(commonName: "localhost"))
        let server = try LoopbackServer(tls: ServerTLS(certificate: certificate)) { request in
            request.path == "/hello" ? .response(body: "hello") : .raw([.text("HTTP/1.1 200 OK\r\n"), .reset])
        }
        // EssentialsTestKit ends
        let trust = TrustPolicy(anchors: try .only([PEM(authority.certificate.certificatePEM)]))
        let service = try HTTPDataRequestService(environment: ConstantEnvironment(server.url), trust: trust)
        #expect(try await service.get("hello", as: String.self) == "hello")
        let failure = await #expect(throws: RequestFailure.self) { try await service.get("other") }
        #expect(failure?.reason == .interrupted)
        await service.shutdown()
    }

    @Test("A module page contains exactly the tested code", arguments: ["ServiceEssentials", "EssentialsTestKit"])
    func sameText(module: String) throws {
        let shown = try ArticleText(module, of: module).blocks("swift")
        #expect(!shown.isEmpty)
        #expect(try ArticleText.tested(in: #filePath, as: module) == shown)
    }
}
