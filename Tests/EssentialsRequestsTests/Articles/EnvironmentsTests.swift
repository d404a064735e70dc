import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article Environments")
struct EnvironmentsTests {
    private func sent(_ environment: any EnvironmentService, _ path: String) async throws -> RecordedRequest {
        let transport = ScriptedTransport()
        transport.on(nil, "/**").answer()
        try await HTTPDataRequestService(environment: environment, transport: transport).get(path)
        return try await transport.request(number: 1)
    }

    @Test("The article on environments shows a constant environment and the meaning of its base URL")
    func constant() async throws {
        // Article begins
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        // Article ends

        for (path, url) in [
            ("users", "https://api.example.com/v1/users"), ("/users", "https://api.example.com/v1/users"),
            ("users?page=2", "https://api.example.com/v1/users?page=2"),
            ("https://api.example.com/v1/users", "https://api.example.com/v1/users"),
        ] {
            #expect(try await sent(environment, path).url.description == url)
        }
        for path in ["../v2/users", "https://other.example.com/v1/users"] {
            let failure = await #expect(throws: RequestFailure.self) { try await sent(environment, path) }
            #expect(failure?.reason == .invalidRequest)
        }
    }

    @Test("The article on environments shows a transport that accepts the policies of all environments")
    func transports() async throws {
        let authority = try TestAuthority(name: "Test authority")
        let certificate = try authority.issue(TestCertificate.Template(commonName: "localhost"))
        let server = try LoopbackServer(tls: ServerTLS(certificate: certificate)) { _ in .response(status: 204) }
        let ours = TrustPolicy(anchors: try .only([PEM(authority.certificate.certificatePEM)]))
        let policy = TrustPolicy.system
        let locator = ServiceLocator(name: "app")
        try locator.register(ConstantEnvironment(server.url, trust: ours), as: (any EnvironmentService).self)

        // Article begins
        try locator.registerLazy((any Transport).self) { _ in
            CurlTransports(trust: policy)
        }
        try locator.registerLazy(HTTPDataRequestService.self) { locator in
            HTTPDataRequestService(
                environment: try locator.resolve((any EnvironmentService).self),
                transport: try locator.resolve((any Transport).self))
        }
        // Article ends
        let requests = try locator.resolve(HTTPDataRequestService.self)
        #expect(try await requests.get("").status == .noContent)

        let single = HTTPDataRequestService(
            environment: try ConstantEnvironment(server.url, trust: ours), transport: try CurlTransport(trust: policy))
        let failure = await #expect(throws: RequestFailure.self) { try await single.get("") }
        #expect(failure?.reason == .otherTrust)
        await single.shutdown()
        await locator.close()
    }

    @Test("The article on environments shows named environments and a switch")
    func named() async throws {
        // Article begins
        let environment = try SwitchableEnvironment([
            EnvironmentSnapshot(
                name: "production",
                baseURL: RequestURL("https://api.example.com/v1/")),
            EnvironmentSnapshot(
                name: "staging",
                baseURL: RequestURL("https://staging.example.com/v1/"),
                headerFields: [.acceptLanguage: "en"]),
        ])
        try environment.select("staging")
        // Article ends

        let request = try await sent(environment, "users")
        #expect(request.url.description == "https://staging.example.com/v1/users")
        #expect(request.headerFields[.acceptLanguage] == "en")
    }

    @Test("The article on environments shows a base URL that is changed at run time")
    func mutable() async throws {
        let address = "https://backup.example.com/v1/"

        // Article begins
        let environment = try MutableEnvironment("https://api.example.com/v1/")
        try environment.set(baseURL: address)
        // Article ends

        #expect(try await sent(environment, "users").url.description == "https://backup.example.com/v1/users")
    }

    @Test("The article on environments shows a file that is read unchanged")
    func file() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let text = try #require(ArticleText("Environments").blocks("json").first)
        try Data(text.joined(separator: "\n").utf8).write(to: directory.appending(path: "environments.json"))
        try Data(#"{"unlistedHosts": "refused"}"#.utf8).write(to: directory.appending(path: "pins.json"))
        let path = directory.appending(path: "environments.json").path

        // Article begins
        let environment = try SwitchableEnvironment(contentsOfFile: path)
        // Article ends

        #expect(environment.environments.map(\.name) == ["production", "staging"])
        #expect(environment.name == "staging")
        #expect(environment.trust == nil)
        try environment.select("production")
        #expect(environment.trust == (try TrustPolicy(json: #"{"unlistedHosts": "refused"}"#)))
    }

    @Test("The article on environments shows environment variables")
    func variables() throws {
        let variables = ["SHOP_BASE_URL": "https://shop.example.com/v1/", "SHOP_NAME": "live"]

        // Article begins
        let environment = try ConstantEnvironment(
            reading: { variables[$0] }, prefix: "SHOP")
        // Article ends

        #expect(environment.baseURL.description == "https://shop.example.com/v1/")
        #expect(environment.name == "live")
    }

    @Test("The article on environments shows a service that cancels requests at a switch, and an observer")
    func switching() async throws {
        let environment = try SwitchableEnvironment([
            EnvironmentSnapshot(name: "production", baseURL: RequestURL("https://api.example.com/v1/")),
            EnvironmentSnapshot(name: "staging", baseURL: RequestURL("https://staging.example.com/v1/")),
        ])
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/report").answer(text: "late", after: .seconds(60))
        let (names, name) = AsyncStream.makeStream(of: String.self)
        @Sendable func show(_ text: String) { name.yield(text) }

        // Article begins
        var configuration = HTTPDataRequestService.Configuration()
        configuration.onEnvironmentChange = .cancelRequests
        let service = HTTPDataRequestService(
            environment: environment, transport: transport,
            configuration: configuration)

        let changes = environment.changes
        let watching = Task {
            for await current in changes { show("Now on \(current.name)") }
        }
        // Article ends

        let running = Task { try await service.get("report", as: String.self) }
        _ = try await transport.request(number: 1)
        try environment.select("staging")
        let failure = await #expect(throws: RequestFailure.self) { try await running.value }
        #expect(failure?.reason == .cancelled)
        var shown = names.makeAsyncIterator()
        #expect(await shown.next() == "Now on staging")
        watching.cancel()
        await service.shutdown()
    }

    @Test("The article on environments shows a request that may finish during a shutdown")
    func shutdown() async throws {
        let transport = ScriptedTransport()
        let gate = LoopbackGate()
        transport.on(.post, "/v1/orders").answer { _ in
            await gate.opened()
            return ScriptedAnswer(.created)
        }
        transport.on(.get, "/v1/prices").answer(text: "late", after: .seconds(60))
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.example.com/v1/"), transport: transport)

        // Article begins
        var prices = DataRequest(.get, "prices")
        prices.finishesOnShutdown = false
        // Article ends

        let request = prices
        let ordering = Task {
            try await service.send(DataRequest(.post, "orders", parameters: ["article": 7]))
        }
        let asking = Task { try await service.send(request) }
        _ = try await transport.request(number: 2)
        let ending = Task {
            // Article begins
            await service.shutdown(grace: .seconds(10))
            // Article ends
        }
        let failure = await #expect(throws: RequestFailure.self) { try await asking.value }
        #expect(failure?.reason == .cancelled)
        gate.open()
        #expect(try await ordering.value.status == .created)
        await ending.value
    }
}
