import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import EssentialsTransport
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Blobs: through the response cache", .timeLimit(.minutes(5)))
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
        for name in fixture.directory.records {
            #expect(!String(decoding: try fixture.directory.bytes(name), as: UTF8.self).contains("size="))
        }
    }

    @Test("Offline, the blobs of an account are not used between other credentials and the next account")
    func offlineSuspended() async throws {
        let own = ResponseCache()
        let fixture = try BlobFixture(setup: .init(change: { $0.cache = own })) { $0.partition = "ada" }
        fixture.transport.on(.get, "/v1/a").answer(text: "ada's")
        fixture.requests.setAuthorization(try .bearer("ada"))
        #expect(try await text(fixture) == "ada's")
        own.isOffline = true
        #expect(try await text(fixture) == "ada's")
        fixture.requests.setAuthorization(try .bearer("grace"))
        let failure = await #expect(throws: RequestFailure.self) { try await text(fixture) }
        #expect(failure?.reason == .notCached && fixture.transport.requestCount == 1)
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

    @Test("A redirect is asked for each time, and what it leads to is validated there and belongs to the blob")
    func redirect() async throws {
        let fixture = try BlobFixture { $0.partition = "ada" }
        let count = Counter()
        fixture.transport.on(.get, "/v1/a").answer { _ in
            // Signed for each request.
            ScriptedAnswer(
                .movedPermanently,
                headerFields: [.location: "https://cdn.example.com/b?s=\(count.next())", .cacheControl: "max-age=60"])
        }
        fixture.transport.on(.get, "/b").answer(text: "x", headerFields: [.eTag: "\"1\"", .cacheControl: "max-age=60"])
            .thenAnswer(.notModified, headerFields: [.eTag: "\"1\""]).thenFail(.connection).thenAnswer(text: "y")
        fixture.requests.setAuthorization(try .bearer("ada"))
        for _ in 0..<3 { #expect(try await text(fixture) == "x") }
        #expect(fixture.transport.requests.map(\.url.path) == ["/v1/a", "/b", "/v1/a", "/b", "/v1/a", "/b"])
        // Only the server that has sent the validator gets it.
        let conditions = fixture.transport.requests.map { $0.headerFields[.ifNoneMatch] }
        #expect(conditions == [nil, nil, nil, "\"1\"", nil, "\"1\""])
        #expect(await fixture.blobs.usage.count == 1)
        try await fixture.blobs.remove(at: "a")
        #expect(fixture.directory.names == [])
        #expect(try await text(fixture) == "y")
        await fixture.requests.clearAuthorization()
        #expect(fixture.directory.names == [])
    }

    @Test("A redirect that leads elsewhere brings the bytes from there, also if validators are alike")
    func otherTarget() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(.found, headerFields: [.location: "/v1/b"])
            .thenAnswer(.found, headerFields: [.location: "/v1/c"])
        for name in ["b", "c"] {
            fixture.transport.on(.get, "/v1/\(name)").answer { request in
                request.headerFields.contains(.ifNoneMatch)
                    ? ScriptedAnswer(.notModified) : ScriptedAnswer(text: name, headerFields: [.eTag: "\"1\""])
            }
        }
        #expect(try await text(fixture) == "b")
        #expect(try await text(fixture) == "c")
        #expect(try await text(fixture) == "c")
    }

    @Test("A redirect that had a cookie makes the blob one of the account")
    func cookieOfRedirect() async throws {
        let jar = CookieJar()
        let fixture = try BlobFixture(setup: .init(change: { $0.cookies = jar }))
        fixture.transport.on(.get, "/v1/login").answer(
            .noContent, headerFields: [.setCookie: "user=ada; Path=/v1/me"])
        fixture.transport.on(.get, "/v1/me/a").answer(.found, headerFields: [.location: "/v1/files/1"])
        fixture.transport.on(.get, "/v1/files/1").answer(text: "ada's")
        _ = try await fixture.requests.send(DataRequest(.get, "login"))
        #expect(try await text(fixture, "me/a") == "ada's")
        #expect(fixture.directory.names == [])
    }

    /// Counts.
    private final class Counter: Sendable {
        private let value = Atomic(0)
        func next() -> Int { value.add(1, ordering: .relaxed).newValue }
    }

    @Test(
        "An error is not stored, and one that refuses the content ends the use of what is stored for this account alone",
        arguments: [(403, true), (404, true), (500, false)])
    func errors(status: Int, ends: Bool) async throws {
        let fixture = try BlobFixture { $0.partition = "ada" }
        let blobs = fixture.blobs
        fixture.transport.on(.get, "/v1/a").answer(text: "ada's", headerFields: [.cacheControl: "max-age=5"])
            .thenAnswer(text: "grace's", headerFields: [.cacheControl: "max-age=5"])
            .thenAnswer(HTTPResponse.Status(code: status), headerFields: [.cacheControl: "max-age=60"])
            .thenFail(.connection)
        #expect(try await text(fixture) == "ada's")
        blobs.enter("grace")
        #expect(try await text(fixture) == "grace's")
        fixture.clock.advance(by: .seconds(10))
        let first = try? await text(fixture)
        let second = try? await text(fixture)
        #expect(first == (ends ? nil : "grace's") && second == (ends ? nil : "grace's"))
        blobs.enter("ada")
        #expect(try await text(fixture) == "ada's")
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
            request.boundContent = nil
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

    /// Adds a secret to the URL.
    private struct Signature: RequestInterceptor {
        func prepare(_ draft: inout RequestDraft) async throws { draft.parameters["api_key"] = "secret-7" }
    }

    @Test("What an interceptor adds to the URL is not stored, and the blob is removed by its address")
    func interceptedURL() async throws {
        let fixture = try BlobFixture(setup: .init(change: { $0.interceptors = [Signature()] })) {
            $0.partition = "ada"
        }
        fixture.transport.on(.get, "/v1/a").answer(text: "x")
        for _ in 0..<2 { #expect(try await text(fixture) == "x") }
        #expect(fixture.transport.requests.map { $0.url.query?.description } == ["api_key=secret-7"])
        for name in fixture.directory.records {
            #expect(!String(decoding: try fixture.directory.bytes(name), as: UTF8.self).contains("secret-7"))
        }
        fixture.blobs.enter(.shared)
        #expect(try await text(fixture) == "x")
        #expect(await fixture.blobs.usage.count == 1)
        try await fixture.blobs.remove(at: "a")
        #expect(fixture.directory.names == [])
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

    /// What tells the trust of two services apart.
    enum TrustDifference: CaseIterable {
        case policy, fingerprint
        /// The environment has a policy, which is the same for both.
        case fingerprintBesidePolicy
    }

    @Test(
        "Services with other trust policies share no blob, and neither do other fingerprints",
        arguments: TrustDifference.allCases)
    func trust(difference: TrustDifference) async throws {
        let directory = BlobDirectory()
        for round in 0..<2 {
            for (index, policy) in [TrustPolicy(), TrustPolicy(minimumTLS: .tls13)].enumerated() {
                let fixture = try BlobFixture(
                    in: directory,
                    setup: .init(wrap: { transport in
                        if difference != .policy { return transport }
                        return Trusted(transport: transport, trustPolicy: policy)
                    })
                ) { if difference != .policy { $0.trustFingerprint = "\(index)" } }
                if difference == .fingerprintBesidePolicy {
                    let url = try RequestURL("https://h/v1/")
                    fixture.environment.set(EnvironmentSnapshot(baseURL: url, trust: TrustPolicy(minimumTLS: .tls13)))
                }
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
            .thenAnswer(text: "bad", headerFields: [.cacheControl: "no-store"]).thenFail(.connection)
            .thenAnswer(text: "new", headerFields: [.cacheControl: "no-store"]).thenFail(.connection)
        #expect(try await text(fixture) == "old")
        fixture.clock.advance(by: .seconds(10))
        await #expect(throws: RequestFailure.self) {
            try await fixture.blobs.value(at: "a") { _ -> Int in throw RequestFailure(.decoding, "Bad.") }
        }
        #expect(try await text(fixture) == "old")
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

    @Test("A blob that nobody can decode is asked for again, however fresh it is, and stays usable as it is")
    func immutable() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(
            text: "bad", headerFields: [.cacheControl: "max-age=1000, immutable", .eTag: "\"1\""]
        ).thenFail(.connection).thenAnswer(text: "good")
        #expect(try await text(fixture) == "bad")
        let decode: @Sendable (Data) throws -> Int = { bytes in
            guard bytes.count == 4 else { throw RequestFailure(.decoding, "Bad.") }
            return bytes.count
        }
        await #expect(throws: RequestFailure.self) { try await fixture.blobs.value(at: "a", decode: decode) }
        // The server cannot be reached.
        #expect(try await text(fixture) == "bad")
        #expect(try await fixture.blobs.value(at: "a", decode: decode) == 4)
        #expect(fixture.transport.requests.map { $0.headerFields[.ifNoneMatch] } == [nil, "\"1\"", "\"1\""])
    }

    @Test(
        "A stale blob is used when the new one breaks off, and when a proxy cannot be reached",
        arguments: [10, 2 << 20])
    func breakingOff(size: Int) async throws {
        let fixture = try BlobFixture()
        let bytes = BlobFixture.bytes(size)
        fixture.transport.on(.get, "/v1/a").answer(data: bytes, headerFields: [.cacheControl: "max-age=5"])
            .thenAnswer(pieces: [.bytes(bytes.prefix(size / 2)), .failure(.interrupted)])
            .thenFail(.proxy)
        #expect(try await fixture.blobs.bytes(at: "a") == bytes)
        fixture.clock.advance(by: .seconds(10))
        for _ in 0..<2 { #expect(try await fixture.blobs.bytes(at: "a") == bytes) }
        #expect(fixture.transport.requestCount == 3 && fixture.reserved == 0)
        #expect(fixture.directory.bodies.count == 1)
    }

    @Test("A body that is shorter than announced is not stored")
    func short() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(
            pieces: [.bytes(Data([1, 2, 3]))], headerFields: [.contentLength: "10"])
        for _ in 0..<2 { _ = try? await fixture.blobs.bytes(at: "a") }
        #expect(fixture.transport.requestCount == 2 && fixture.directory.names == [])
    }

    @Test("Callers whose definitions use the cache in other ways do not share a transfer")
    func joins() async throws {
        let (fixture, latch) = (try BlobFixture(), Latch())
        fixture.transport.on(.get, "/v1/a").answer { _ in
            await latch.wait()
            return ScriptedAnswer(text: "x")
        }
        let blobs = fixture.blobs
        let first = Task { try await blobs.bytes(at: "a") }
        _ = try await fixture.transport.request(number: 1)
        var configuration = APIConfiguration()
        configuration.settings.cachePolicy = .onlyIfStored
        let stored = APIRequest<Data>(.get, "a").setting(configuration)
        let failure = await #expect(throws: RequestFailure.self) { try await blobs.bytes(of: stored) }
        #expect(failure?.reason == .notCached)
        latch.open()
        #expect(try await first.value == Data("x".utf8))
        #expect(try await blobs.bytes(of: stored) == Data("x".utf8))
    }

    @Test("Programs that run briefly and never close keep to the size of the directory too", arguments: [false, true])
    func shortRuns(closes: Bool) async throws {
        let (directory, limit) = (BlobDirectory(), 100 << 10)
        for run in 0..<12 {
            let fixture = try BlobFixture(in: directory) { $0.maximumBytes = limit }
            fixture.transport.on(.get, "/v1/\(run)").answer(data: BlobFixture.bytes(16_000))
            _ = try await fixture.blobs.bytes(at: "\(run)")
            if closes { await fixture.blobs.close() }
        }
        let last = try BlobFixture(in: directory) { $0.maximumBytes = limit }
        #expect(await last.blobs.usage.bytes <= limit)
        #expect(directory.size <= limit)
    }
}
