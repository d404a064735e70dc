import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import FoundationEssentials
import Logging
import Testing

@Suite("Log of responses from a real server")
struct ResponseLogTests {
    private static let phases = ["queued-ms", "first-byte-ms", "body-ms", "total-ms"]

    /// Runs a closure with a service that logs, and a server that responds by path.
    private func withService(
        _ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in },
        _ body: (HTTPDataRequestService, LoopbackServer, LogLines) async throws -> Void
    ) async throws {
        let lines = LogLines()
        let server = try LoopbackServer { request in
            switch request.path {
            case "/v1/there": .response(status: 307, headers: [("Location", "/v1/a?s3cret")], body: "")
            case "/v1/none": .response(status: 404, headers: [("Set-Cookie", "s3cret")], body: "s3cret")
            case "/v1/broken": .raw([.head(headers: [("Content-Length", "10")]), .text("12345"), .close])
            case "/v1/close": .close
            default: .response(status: 200, headers: [("Set-Cookie", "s3cret")], body: "s3cret")
            }
        }
        var configuration = HTTPDataRequestService.Configuration()
        configuration.logger = lines.logger(.trace)
        configuration.logsCommands = true
        change(&configuration)
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(server.url + "/v1?s3cret", headerFields: [.cookie: "s3cret"]),
            transport: try CurlTransport(), configuration: configuration)
        service.setAuthorization(try .bearer("s3cret"))
        do { try await body(service, server, lines) } catch {
            await service.shutdown()
            throw error
        }
        await service.shutdown()
        #expect(!lines.text.contains("s3cret"), "\(lines.text)")
        #expect(lines.all.allSatisfy { $0.level <= .debug })
        server.stop()
    }

    /// The keys, without those that the connection decides.
    private func keys(_ metadata: [String: String]?) -> [String] {
        (metadata ?? [:]).keys.filter { !["name-ms", "connect-ms", "tls-ms"].contains($0) }.sorted()
    }

    @Test("The line of a response has its status, phases, sizes, attempt and connection")
    func response() async throws {
        try await withService { service, server, lines in
            for _ in 0..<2 { _ = try await service.send(DataRequest(.post, "a?q=s3cret", body: .text("s3cret!"))) }
            let (first, second) = (lines.all[2].metadata, lines.all[5].metadata)
            #expect(
                lines.messages == [
                    "request", "request as a command", "response", "request", "request as a command", "response",
                ])
            #expect(
                keys(first)
                    == ([
                        "request-id", "method", "url", "status", "attempt", "redirects", "sent-bytes", "received-bytes",
                        "protocol", "reused",
                    ] + Self.phases).sorted())
            #expect(first["method"] == "POST")
            #expect(first["url"] == "\(server.url)/v1/a?…")
            #expect(first["status"] == "200")
            #expect((first["attempt"], first["redirects"]) == ("1", "0"))
            #expect((first["sent-bytes"], first["received-bytes"]) == ("7", "6"))
            #expect(first["protocol"] == "HTTP/1.1")
            #expect((first["reused"], second["reused"]) == ("false", "true"))
            #expect(first["connect-ms"] != nil)
            #expect(second["connect-ms"] == nil && second["name-ms"] == nil)
            for key in Self.phases {
                let text = try #require(first[key])
                let sides = text.split(separator: ".")
                #expect(sides.count == 2 && sides[1].count == 3, "\(key): \(text)")
                #expect(Double(text) ?? -1 >= 0)
            }
            let sum = (Self.phases.dropLast() + ["connect-ms"]).reduce(0) { $0 + (Double(first[$1] ?? "") ?? 0) }
            #expect(sum <= Double(first["total-ms"] ?? "") ?? 0)
            #expect(first["request-id"] == lines.all[0].metadata["request-id"])
            #expect(first["request-id"] != second["request-id"])
        }
    }

    @Test("The duration of the TLS handshake is a phase of its own")
    func tls() async throws {
        let lines = LogLines()
        let authority = try TestAuthority(name: "Test authority")
        let certificate = try authority.issue(TestCertificate.Template(commonName: "localhost"))
        let server = try LoopbackServer(tls: ServerTLS(certificate: certificate)) { _ in .response(body: "x") }
        let trust = TrustPolicy(anchors: try .only([PEM(authority.certificate.certificatePEM)]))
        var configuration = HTTPDataRequestService.Configuration()
        configuration.logger = lines.logger(.debug)
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(server.url),
            transport: try CurlTransport(trust: trust), configuration: configuration)
        _ = try await service.get("a")
        #expect(Double(lines.metadata(of: "response")?["tls-ms"] ?? "") ?? 0 > 0)
        await service.shutdown()
    }

    @Test("The line of a redirected response counts its redirects and attempts")
    func redirects() async throws {
        try await withService { service, _, lines in
            _ = try await service.get("there")
            let line = lines.metadata(of: "response")
            #expect((line?["redirects"], line?["attempt"], line?["reused"]) == ("1", "2", "true"))
            #expect(line?["url"]?.hasSuffix("/v1/there?…") == false)
            #expect(line?["url"]?.hasSuffix("/v1/there") == true)
        }
    }

    @Test("The line of a failure has its reason, phase and text, and what is known about the response")
    func failures() async throws {
        try await withService { service, server, lines in
            await #expect(throws: RequestFailure.self) { try await service.get("none?q=s3cret") }
            let status = lines.metadata(of: "request failed")
            #expect(
                keys(status)
                    == ([
                        "request-id", "method", "url", "status", "attempt", "redirects", "sent-bytes", "received-bytes",
                        "protocol", "reused", "reason", "phase", "error",
                    ] + Self.phases).sorted())
            #expect((status?["reason"], status?["phase"], status?["status"]) == ("status", "receiving", "404"))
            #expect(
                status?["error"] == "GET \(server.url)/v1/none?… returned the status 404 Not Found.")
            await #expect(throws: RequestFailure.self) { try await service.get("close") }
            let closed = lines.metadata(of: "request failed")
            #expect(
                keys(closed).filter { $0 != "sendings" } == [
                    "attempt", "error", "method", "phase", "reason", "redirects", "request-id", "total-ms", "url",
                ])
            #expect(closed?["reason"] == "interrupted")
            await #expect(throws: RequestFailure.self) { try await service.get("../s3cret") }
            #expect(keys(lines.metadata(of: "request failed")).contains("url") == false)
        }
    }

    @Test("The cause of a failure is logged by its type, because its text may contain secrets")
    func cause() async throws {
        struct Refusal: Error { let token = "s3cret" }
        let refusing = Intercepting { _ in throw Refusal() }
        try await withService({ $0.interceptors = [refusing] }) { service, _, lines in
            await #expect(throws: RequestFailure.self) { try await service.get("a") }
            #expect(lines.metadata(of: "request failed")?["cause"] == "Refusal")
        }
    }

    @Test("A streamed body has a line of its own when it was read, failed or was dropped")
    func streams() async throws {
        try await withService { service, _, lines in
            func request(_ path: String) -> DataRequest {
                var request = DataRequest(.get, path)
                request.options.delivery = .streamed
                return request
            }
            let whole = try await service.send(request("a"))
            #expect(lines.metadata(of: "response")?["received-bytes"] == nil)
            #expect(lines.metadata(of: "response")?["body-ms"] == nil)
            _ = try await whole.body.collect(upTo: 100)
            let ended = try #require(lines.metadata(of: "response body"))
            #expect(
                keys(ended)
                    == (["request-id", "method", "url", "read-bytes", "sent-bytes", "received-bytes"] + Self.phases)
                    .sorted())
            #expect((ended["read-bytes"], ended["received-bytes"]) == ("6", "6"))
            #expect(ended["request-id"] == lines.metadata(of: "response")?["request-id"])

            let broken = try await service.send(request("broken"))
            await #expect(throws: RequestFailure.self) { try await broken.body.collect(upTo: 100) }
            let failed = lines.metadata(of: "response body failed")
            #expect((failed?["reason"], failed?["read-bytes"]) == ("interrupted", "5"))
            #expect(failed?["request-id"] == lines.metadata(of: "response")?["request-id"])
            do { _ = try await service.send(request("a")) }
            #expect(lines.metadata(of: "response body dropped")?["read-bytes"] == "0")
            #expect(lines.messages.filter { $0.hasPrefix("response body") }.count == 3)
        }
    }

    @Test("A download has a line for its response and one for its file")
    func download() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await withService { service, _, lines in
            _ = try await service.download("a", to: path)
            #expect(lines.messages.filter { $0 != "request as a command" } == ["request", "response", "response body"])
            #expect(lines.metadata(of: "response body")?["received-bytes"] == "6")
            await #expect(throws: RequestFailure.self) {
                try await service.download(DataRequest(.head, "b"), to: path, options: DownloadOptions())
            }
            #expect(lines.metadata(of: "request failed")?["url"]?.hasSuffix("/v1/b") == true)
        }
    }

    @Test("The identifier of a request differs among services, and is that of an interceptor's outcome")
    func identifiers() async throws {
        let lines = LogLines()
        let ids = LogLines()
        struct Noting: RequestInterceptor {
            let logger: Logger
            func received(_ outcome: HopOutcome) async throws {
                logger.debug("outcome", metadata: ["request-id": "\(outcome.requestID)"])
            }
        }
        for _ in 0..<2 {
            let fixture = try ServiceFixture {
                $0.logger = lines.logger(.debug)
                $0.interceptors = [Noting(logger: ids.logger(.debug))]
            }
            _ = try await fixture.service.get("a")
            #expect(ids.metadata(of: "outcome")?["request-id"] == lines.metadata(of: "response")?["request-id"])
        }
        #expect(Set(lines.all.compactMap { $0.metadata["request-id"] }).count == 2)
    }

    @Test("Nothing is logged above debug", arguments: [Logger.Level.info, .error])
    func off(level: Logger.Level) async throws {
        let lines = LogLines()
        for status in [200, 500] {
            let fixture = try ServiceFixture(StubTransport(status: status)) { $0.logger = lines.logger(level) }
            _ = try? await fixture.service.get("a")
        }
        #expect(lines.all.isEmpty)
    }
}
