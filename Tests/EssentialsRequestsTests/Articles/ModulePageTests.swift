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
        try locator.register(
            ConstantEnvironment("https://api.example.com/v1/"),
            as: (any EnvironmentService).self)
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
        transport.on(.get, "/v1/users", query: ["role": "admin"]).answer(json: [
            user
        ])
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.test/v1/"),
            transport: transport)
        // EssentialsTestKit ends
        #expect(try await requests.get("users", parameters: ["role": "admin"]) == [user])

        // EssentialsTestKit begins
        let authority = try TestAuthority(name: "Test authority")
        let certificate = try authority.issue(
            TestCertificate.Template(commonName: "localhost"))
        let server = try LoopbackServer(tls: ServerTLS(certificate: certificate)) {
            request in
            request.path == "/hello"
                ? .response(body: "hello")
                : .raw([.text("HTTP/1.1 200 OK\r\n"), .reset])
        }
        // EssentialsTestKit ends
        let trust = TrustPolicy(anchors: try .only([PEM(authority.certificate.certificatePEM)]))
        let service = try HTTPDataRequestService(environment: ConstantEnvironment(server.url), trust: trust)
        #expect(try await service.get("hello", as: String.self) == "hello")
        let failure = await #expect(throws: RequestFailure.self) { try await service.get("other") }
        #expect(failure?.reason == .interrupted)
        await service.shutdown()
    }

    @Test("The page of EssentialsHTTP shows streams and files")
    func http() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let (source, destination) = (directory + "/1.mp4", directory + "/2.mp4")
        try Data("film".utf8).write(to: URL(filePath: source))
        let server = try LoopbackServer { request in
            switch (request.method, request.path) {
            case ("GET", "/moved"): .response(status: 302, headers: [("Location", "/events")])
            case ("GET", "/events"): .response(body: "data: one\n\ndata: two\n\n")
            default: .response(body: "film")
            }
        }
        let transport = try CurlTransport()
        var request = TransportRequest(.get, try RequestURL(server.url + "/moved"))
        let film = TransportRequest(.get, try RequestURL(server.url + "/film"))
        var upload = TransportRequest(.put, try RequestURL(server.url + "/film"))
        var (shown, resumable): ([String], DownloadOptions) = ([], DownloadOptions())
        func show(_ text: String) { shown.append(text) }
        resumable.resumes = true

        // EssentialsHTTP begins
        request.options.delivery = .streamed
        let redirected = try await transport.send(request, following: .limit(3))
        for try await event in redirected.response.body.serverSentEvents() {
            show(event.data)
        }

        // read while it is sent, and again after a dead connection
        upload.body = try .file(source)
        let stored = try await transport.send(upload)
        let file = try await transport.download(
            film, to: destination, options: resumable)
        // EssentialsHTTP ends

        #expect(shown == ["one", "two"])
        #expect(stored.status == 200)
        #expect(server.requests.first { $0.method == "PUT" }?.bodyText == "film")
        #expect(file.bytes == 4)
        #expect(try Data(contentsOf: URL(filePath: destination)) == Data("film".utf8))
    }

    @Test(
        "A module page contains exactly the tested code",
        arguments: ["ServiceEssentials", "EssentialsHTTP", "EssentialsTestKit"])
    func sameText(module: String) throws {
        let shown = try ArticleText(module, of: module).blocks("swift")
        #expect(!shown.isEmpty)
        #expect(try ArticleText.tested(in: #filePath, as: module) == shown)
    }
}
