import EssentialsHTTP
import EssentialsTestKit
import EssentialsTransport
import FoundationEssentials
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Blobs: through the response cache", .timeLimit(.minutes(2)))
struct BlobCacheTests {
    private func text(_ fixture: BlobFixture, _ path: String = "a") async throws -> String {
        String(decoding: try await fixture.blobs.bytes(at: path), as: UTF8.self)
    }

    @Test("The cache of the data-request service is left alone, and its offline mode counts for blobs too")
    func besides() async throws {
        let own = ResponseCache()
        let fixture = try BlobFixture(setup: .init(change: { $0.cache = own }))
        fixture.transport.on(.get, "/v1/a").answer(text: "x", headerFields: [.cacheControl: "max-age=5"])
        fixture.transport.on(.get, "/v1/b").answer(text: "y")
        #expect(try await text(fixture) == "x")
        #expect(await own.usage.responses == 0)
        #expect(await fixture.blobs.usage.count == 1)
        own.isOffline = true
        fixture.clock.advance(by: .seconds(1_000))
        #expect(try await text(fixture) == "x")
        let failure = await #expect(throws: RequestFailure.self) { try await text(fixture, "b") }
        #expect(failure?.reason == .notCached && fixture.transport.requestCount == 1)
        own.isOffline = false
        #expect(try await text(fixture, "b") == "y")
    }

    @Test("A response that varies is used only for requests with the same fields, those of a cookie jar included")
    func varies() async throws {
        let jar = CookieJar()
        let fixture = try BlobFixture(setup: .init(change: { $0.cookies = jar })) { $0.partition = "ada" }
        fixture.transport.on(.get, "/v1/a").answer { request in
            ScriptedAnswer(text: request.headerFields[.cookie] ?? "none", headerFields: [.vary: "Cookie"])
        }
        for size in ["s", "l"] {
            fixture.transport.on(.get, "/v1/\(size)").answer(
                .noContent, headerFields: [.setCookie: "size=\(size); Path=/"])
        }
        for _ in 0..<2 { #expect(try await text(fixture) == "none") }
        for size in ["s", "l", "s"] {
            _ = try await fixture.requests.send(DataRequest(.get, size))
            for _ in 0..<2 { #expect(try await text(fixture) == "size=\(size)") }
        }
        #expect(fixture.transport.requests.count { $0.url.path == "/v1/a" } == 3)
    }

    @Test("While a stale blob could be used, its server is asked nevertheless, because the response has to be judged")
    func staleWhileRevalidate() async throws {
        let fixture = try BlobFixture()
        let fields: HTTPFields = [.cacheControl: "max-age=5, stale-while-revalidate=60"]
        fixture.transport.on(.get, "/v1/a").answer(text: "1", headerFields: fields).thenAnswer(text: "<html>")
            .thenAnswer(text: "2")
        let number: @Sendable (Data) throws -> Int = { bytes in
            guard let number = Int(String(decoding: bytes, as: UTF8.self)) else {
                throw RequestFailure(.decoding, "No number.")
            }
            return number
        }
        #expect(try await fixture.blobs.value(at: "a", decode: number) == 1)
        fixture.clock.advance(by: .seconds(10))
        await #expect(throws: RequestFailure.self) { try await fixture.blobs.value(at: "a", decode: number) }
        #expect(await fixture.blobs.usage.count == 1)
        #expect(try await fixture.blobs.value(at: "a", decode: number) == 2)
    }

    /// Has one token, and then none.
    private struct FailingTokens: AccessTokenProvider {
        func token(replacing old: AccessToken?) async throws -> AccessToken {
            guard old == nil else { throw RequestFailure(.connection, "The token server cannot be reached.") }
            return try AccessToken("one", expiresIn: .seconds(60))
        }
    }

    @Test("A stale blob is used while the server of the tokens cannot be reached")
    func tokenOutage() async throws {
        let fixture = try BlobFixture { $0.partition = "ada" }
        fixture.transport.on(.get, "/v1/a").answer(text: "x", headerFields: [.cacheControl: "max-age=5"])
        fixture.requests.setAuthorization(.tokens(FailingTokens(), clock: fixture.clock.requestClock))
        #expect(try await text(fixture) == "x")
        fixture.clock.advance(by: .seconds(1_000))
        #expect(try await text(fixture) == "x")
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("A redirect is asked for each time, and its target is stored under its own URL")
    func redirect() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(
            .movedPermanently, headerFields: [.location: "/v1/b", .cacheControl: "max-age=60"])
        fixture.transport.on(.get, "/v1/b").answer(text: "x")
        for _ in 0..<2 { #expect(try await text(fixture) == "x") }
        #expect(try await text(fixture, "b") == "x")
        #expect(fixture.transport.requests.map(\.url.path) == ["/v1/a", "/v1/b", "/v1/a"])
        #expect(await fixture.blobs.usage.count == 1)
    }

    @Test("Errors are not stored, whatever they say about their freshness", arguments: [404, 500])
    func unstored(status: Int) async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(
            HTTPResponse.Status(code: status),
            headerFields: [.cacheControl: "max-age=60"])
        for _ in 0..<2 { await #expect(throws: RequestFailure.self) { try await text(fixture) } }
        #expect(fixture.transport.requestCount == 2 && fixture.directory.names == [])
    }

    @Test("The directory can be listed as one of stored responses")
    func listed() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(data: BlobFixture.bytes(2 << 20))
        _ = try await fixture.blobs.file(at: "a")
        let items = try StoredResponseFiles(fixture.directory.path).items(isVerified: true)
        let facts = try #require(items.first?.facts)
        #expect(items.count == 1 && facts.url == "https://h/v1/a" && facts.size == 2 << 20)
    }

    @Test("Over a test double of the data-request service, each blob is loaded each time")
    func double() async throws {
        let (transport, directory) = (ScriptedTransport(), BlobDirectory())
        transport.on(.get, "/a").answer(text: "x")
        let environment = try ConstantEnvironment("https://h/")
        let double = DoubleService(
            next: HTTPDataRequestService(environment: environment, transport: transport))
        let blobs = try BlobService(requests: double, environment: environment, directory: directory.path)
        for _ in 0..<2 { #expect(try await blobs.bytes(at: "a") == Data("x".utf8)) }
        #expect(transport.requestCount == 2 && directory.names == [])
    }

    /// A double that nobody can look through.
    private struct DoubleService: DataRequestService {
        let next: HTTPDataRequestService
        var codecs: CodecRegistry { next.codecs }

        func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
            var request = request
            request.cacheBinding = nil
            return try await next.send(request)
        }
    }

    /// Adds a tenant to what is sent, before or after the cache sees the request.
    private struct Tenant: RequestInterceptor {
        let name: String
        let signs: Bool
        private let field = HTTPField.Name("X-Tenant")

        func prepare(_ draft: inout RequestDraft) async throws {
            if !signs, let field { draft.headerFields[field] = name }
        }

        func sign(_ request: inout EncodedRequest) async throws {
            if signs, let field { request.headerFields[field] = name }
        }
    }

    @Test(
        "Services whose interceptors name another tenant share no blob, and what was signed is stored for an account only",
        arguments: [false, true])
    func interceptors(signs: Bool) async throws {
        let directory = BlobDirectory()
        for round in 0..<2 {
            for tenant in ["a", "b"] {
                let fixture = try BlobFixture(
                    in: directory,
                    setup: .init(change: { $0.interceptors = [Tenant(name: tenant, signs: signs)] }))
                fixture.transport.on(.get, "/v1/a").answer { request in
                    ScriptedAnswer(text: request.headerFields[HTTPField.Name("X-Tenant")!] ?? "nobody")
                }
                for _ in 0..<2 { #expect(try await text(fixture) == tenant) }
                #expect(fixture.transport.requestCount == (signs ? 2 : round == 0 ? 1 : 0))
            }
        }
        #expect(directory.records.count == (signs ? 0 : 2))
    }

    /// A transport that tells its policy.
    private struct Trusted: TrustBearing {
        let transport: ScriptedTransport
        let trustPolicy: TrustPolicy

        func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
            try await transport.send(request)
        }
        func shutdown() async {}
    }

    @Test(
        "Services with other trust policies share no blob, and neither do other fingerprints", arguments: [false, true])
    func trust(isNamed: Bool) async throws {
        let directory = BlobDirectory()
        for round in 0..<2 {
            for (index, policy) in [TrustPolicy(), TrustPolicy(minimumTLS: .tls13)].enumerated() {
                let fixture = try BlobFixture(
                    in: directory,
                    setup: .init(wrap: { transport in
                        if isNamed { return transport }
                        return Trusted(transport: transport, trustPolicy: policy)
                    })
                ) { if isNamed { $0.trustFingerprint = "\(index)" } }
                fixture.transport.on(.get, "/v1/a").answer(text: "\(index)")
                for _ in 0..<2 { #expect(try await text(fixture) == "\(index)") }
                #expect(fixture.transport.requestCount == (round == 0 ? 1 : 0))
            }
        }
    }

    @Test("A response with no-store lets an older blob not be used any more, unless nobody can decode it")
    func superseded() async throws {
        let fixture = try BlobFixture()
        let fields: HTTPFields = [.cacheControl: "max-age=5"]
        fixture.transport.on(.get, "/v1/a").answer(text: "old", headerFields: fields)
            .thenAnswer(text: "new", headerFields: [.cacheControl: "no-store"]).thenFail(.connection)
        #expect(try await text(fixture) == "old")
        fixture.clock.advance(by: .seconds(10))
        #expect(try await text(fixture) == "new")
        let failure = await #expect(throws: RequestFailure.self) { try await text(fixture) }
        #expect(failure?.reason == .connection)
    }

    @Test("With sensitive responses allowed, no-store is stored too")
    func sensitive() async throws {
        let fixture = try BlobFixture { $0.storesSensitiveResponses = true }
        fixture.transport.on(.get, "/v1/a").answer(text: "x", headerFields: [.cacheControl: "no-store"])
        for _ in 0..<2 { #expect(try await text(fixture) == "x") }
        #expect(fixture.transport.requestCount == 1)
    }
}
