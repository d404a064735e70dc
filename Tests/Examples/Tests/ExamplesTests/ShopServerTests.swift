import Configuration
import EssentialsTestKit
import Glibc
import Hummingbird
import ServiceEssentials
import Telemetry
import Testing

@testable import shop_server

@Suite("The Hummingbird server with one scope for each request", .timeLimit(.minutes(5)))
struct ShopServerTests {
    /// Runs the server in this process, with a double for the network behind it.
    private func withShop(
        _ body: (any DataRequestService, ScriptedTransport) async throws -> Void
    ) async throws {
        let transport = ScriptedTransport()
        let doubles = Assembly("doubles") { locator in
            try locator.registerLazy((any DataRequestService).self) { _ in
                HTTPDataRequestService(
                    environment: try ConstantEnvironment("https://films.test/v1/"), transport: transport)
            }
            try locator.register(
                ConstantEnvironment("https://films.test/v1/"), as: (any EnvironmentService).self)
        }
        let reader = ConfigReader(provider: InMemoryProvider(values: [:]))
        let locator = try Shop.services(reader, PrometheusMetrics()).makeLocator(overriding: [doubles])
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let server = Task {
            try await Shop.application(locator, port: 0) { number in port.yield(number) }.run()
        }
        var iterator = ports.makeAsyncIterator()
        let client = try HTTPDataRequestService(
            environment: ConstantEnvironment("http://127.0.0.1:\(try #require(await iterator.next()))/"))
        do { try await body(client, transport) } catch { Issue.record(error) }
        await client.shutdown()
        server.cancel()
        _ = try? await server.value
        await locator.close()
    }

    @Test("Every request has its own scope, whose languages its outgoing requests carry")
    func scopes() async throws {
        try await withShop { client, transport in
            transport.on(.get, "/v1/films/*").answer(json: Film(id: 7, title: "Metropolis"))
            let request = RequestBuilder(.get, "films/7")
            let first = try await client.model(of: request.header("Accept-Language", "de, en;q=0.5"), as: Film.self)
            #expect(first == Film(id: 7, title: "Metropolis"))
            let languages = ["de,en;q=0.5", nil, "fr", "<script>", String(repeating: "x", count: 257)]
            for languages in languages {
                _ = try await client.send(languages.map { request.header("Accept-Language", $0) } ?? request)
            }
            let sent = transport.requests.map { $0.headerFields[.acceptLanguage] }
            #expect(sent == ["de, en;q=0.5", "de,en;q=0.5", "en", "fr", "en", "en"])
        }
    }

    @Test("A failure behind the server becomes a status without details")
    func failures() async throws {
        try await withShop { client, transport in
            transport.on(.get, "/v1/films/1").answer(.notFound)
            transport.on(.get, "/v1/films/2").answer(.internalServerError)
            transport.on(.get, "/v1/films/3").answer(.failure(.timeout))
            transport.on(.get, "/v1/films/4").answer(text: "secret, not JSON")
            for (path, status) in [("1", 404), ("2", 502), ("3", 504), ("4", 502), ("x", 400)] {
                let response = try await client.send(RequestBuilder(.get, "films/\(path)").expecting(200...599))
                #expect(response.status.code == status, "\(path)")
                let text = String(decoding: try await response.body.collect(upTo: 1000), as: UTF8.self)
                #expect(!text.contains("secret") && !text.contains("films.test"))
            }
        }
    }

    /// Opens the page as a browser does: with the token at first, and then with the cookie.
    ///
    /// - Returns: A page that follows, until the server ends.
    private func checkInspector(_ process: ExampleProcess) async throws -> Task<Void, any Error> {
        let address = try await process.line(after: "inspector ")
        let whole = try RequestURL(address)
        let plain = try RequestURL(String(address.prefix { $0 != "?" }))
        var configuration = HTTPDataRequestService.Configuration()
        configuration.cookies = CookieJar()
        let browser = try HTTPDataRequestService(
            environment: ConstantEnvironment("\(whole.origin)/"),
            configuration: configuration)
        let stranger = try HTTPDataRequestService.forAnyServer()
        let page = try await browser.send(DataRequest(.get, "?\(whole.query ?? "")"))
        let text = String(decoding: try await page.body.collect(upTo: 1 << 20), as: UTF8.self)
        #expect(text.contains("/v1/films/7") && text.contains("data-live=\"true\""))
        #expect(page.headerFields[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
        await #expect(throws: RequestFailure.self) { try await stranger.send(DataRequest(.get, at: plain)) }
        await stranger.shutdown()
        let events = try await browser.stream(of: RequestBuilder(.get, "events"))
        return Task {
            for try await _ in events.body {}
            await browser.shutdown()
        }
    }

    @Test(
        "The built server serves requests from another server in the client's trace, counts them, and ends on a signal")
    func process() async throws {
        let films = try LoopbackServer { request in
            .response(
                headers: [("Content-Type", "application/json")],
                body: #"{"id": 7, "title": "\#(request.header("traceparent") ?? "-")"}"#)
        }
        defer { films.stop() }
        let process = try ExampleProcess(
            "shop-server", ["0"], environment: ["HTTP_URL": "\(films.url)/v1/", "SPANS_SHOWN": "true"])
        let port = try await process.line(after: "port ")
        let client = try HTTPDataRequestService(environment: ConstantEnvironment("http://127.0.0.1:\(port)/"))
        let own = TraceContext()
        let film: Film = try await client.model(
            of: RequestBuilder(.get, "films/7").header("traceparent", "\(own)"))
        let outgoing = try #require(TraceContext(film.title))
        #expect(outgoing.trace == own.trace && outgoing.span != own.span)
        let inner = try await process.line(after: "span \(own.trace) GET /films/{id} in ")
        let outer = try await process.line(after: "span \(own.trace) /films/{id} in ")
        #expect(outer == own.span && inner != own.span && inner != outgoing.span)
        let health: String = try await client.get("health")
        #expect(health.contains("\"isReady\":true") && health.contains("DataRequestService"))
        try await checkMetrics(client, films.port)
        let follower = try await checkInspector(process)
        process.signal(SIGTERM)
        let end = try await process.end()
        #expect(end.status == 0, "\(end.errors)")
        _ = await follower.result
        await client.shutdown()
    }

    /// The values that Prometheus reads.
    private func checkMetrics(_ client: HTTPDataRequestService, _ port: UInt16) async throws {
        var text: String = try await client.get("metrics")
        // The connections are looked at once a second.
        for _ in 0..<100 where !text.contains("http_client_open_connections") {
            try await Task.sleep(for: .milliseconds(100))
            text = try await client.get("metrics")
        }
        // The labels are sorted.
        let server = #"server_address="127.0.0.1",server_port="\#(port)""#
        let lines = text.split(separator: "\n")
        let sent =
            #"http_client_request_duration_seconds_count{error_type="",http_request_method="GET","#
            + #"http_response_status_code="200",network_protocol_version="1.1",\#(server),url_template="/films/{id}"} 1"#
        #expect(lines.contains { $0 == sent }, "\(text)")
        #expect(lines.contains { $0.hasPrefix("http_server_request_duration_seconds_count{") }, "\(text)")
        #expect(lines.contains { $0.hasPrefix("http_client_open_connections{") && $0.contains(server) }, "\(text)")
        #expect(lines.contains("# TYPE http_client_request_duration_seconds histogram"))
    }
}
