import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Glibc
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Blobs: freshness and requests", .timeLimit(.minutes(5)))
struct BlobServiceTests {
    private struct Broken: Error {}

    @Test("A fresh blob is read without a request, even by the next process")
    func restart() async throws {
        let fixture = try BlobFixture()
        let bytes = BlobFixture.bytes(5_000)
        fixture.transport.on(.get, "/v1/a.png").answer(data: bytes, headerFields: [.contentType: "image/png"])
        for _ in 0..<3 { #expect(try await fixture.blobs.bytes(at: "a.png") == bytes) }
        let next = try BlobFixture(in: fixture.directory, clock: fixture.clock)
        for _ in 0..<3 { #expect(try await next.blobs.bytes(at: "https://h/v1/a.png") == bytes) }
        let file = try await next.blobs.file(at: "a.png")
        #expect(file.mediaType == "image/png" && file.size == 5_000)
        #expect(fixture.transport.requestCount == 1 && next.transport.requestCount == 0)
        #expect(fixture.directory.names.count == 2)
        #expect(await next.blobs.usage == BlobService.Usage(count: 1, bytes: 12_288, damaged: 0))
    }

    @Test(
        "A stale blob is confirmed by 304, with the entity tag or the date of its response, and is fresh again",
        arguments: [
            (HTTPField(name: .eTag, value: "\"1\""), HTTPField.Name.ifNoneMatch),
            (HTTPField(name: .lastModified, value: "Sun, 06 Nov 1994 08:49:37 GMT"), .ifModifiedSince),
        ])
    func confirmed(validator: HTTPField, condition: HTTPField.Name) async throws {
        let fixture = try BlobFixture()
        let bytes = BlobFixture.bytes(100)
        fixture.transport.on(.get, "/v1/a").answer(data: bytes, headerFields: [validator.name: validator.value])
            .thenAnswer(.notModified)
        _ = try await fixture.blobs.bytes(at: "a")
        fixture.clock.advance(by: .seconds(3_599))
        _ = try await fixture.blobs.bytes(at: "a")
        #expect(fixture.transport.requestCount == 1)
        fixture.clock.advance(by: .seconds(1))
        #expect(try await fixture.blobs.bytes(at: "a") == bytes)
        #expect(fixture.transport.requests.last?.headerFields[condition] == validator.value)
        fixture.clock.advance(by: .seconds(3_599))
        #expect(try await fixture.blobs.bytes(at: "a") == bytes)
        // The next process finds the renewed time as well.
        let next = try BlobFixture(in: fixture.directory, clock: fixture.clock)
        #expect(try await next.blobs.bytes(at: "a") == bytes)
        #expect(fixture.transport.requestCount == 2 && next.transport.requestCount == 0)
    }

    @Test("A stale blob that has changed is replaced, and its old bytes are removed")
    func replaced() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(text: "old", headerFields: [.cacheControl: "max-age=5"])
            .thenAnswer(text: "new")
        #expect(try await fixture.blobs.value(at: "a") { String(decoding: $0, as: UTF8.self) } == "old")
        let old = try await fixture.blobs.file(at: "a")
        fixture.clock.advance(by: .seconds(6))
        #expect(try await fixture.blobs.value(at: "a") { String(decoding: $0, as: UTF8.self) } == "new")
        #expect(fixture.directory.bodies.count == 1)
        // A caller that uses the old file keeps it.
        #expect(try await old.bytes(in: 0..<10) == Data("old".utf8))
    }

    @Test(
        "A stale blob is used while the server cannot be reached, unless that is forbidden",
        arguments: [
            ("max-age=5", true, true), ("max-age=5", false, false), ("max-age=5, must-revalidate", true, false),
            ("max-age=5, stale-if-error=60", true, true), ("max-age=5, stale-if-error=0", true, false),
            ("max-age=5, stale-if-error=60", false, false),
        ])
    func offline(cacheControl: String, servesStale: Bool, isUsed: Bool) async throws {
        let fixture = try BlobFixture { $0.servesStale = servesStale }
        fixture.transport.on(.get, "/v1/a").answer(text: "old", headerFields: [.cacheControl: cacheControl])
            .thenFail(.connection).thenAnswer(.serviceUnavailable).thenAnswer(.badRequest)
        _ = try await fixture.blobs.bytes(at: "a")
        fixture.clock.advance(by: .seconds(6))
        for reason in [RequestFailure.Reason.connection, .status] {
            if isUsed {
                #expect(try await fixture.blobs.bytes(at: "a") == Data("old".utf8))
            } else {
                let failure = await #expect(throws: RequestFailure.self) { try await fixture.blobs.bytes(at: "a") }
                #expect(failure?.reason == reason)
            }
        }
        // Other statuses do not count as an outage.
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.blobs.bytes(at: "a") }
        #expect(failure?.status == .badRequest)
    }

    @Test("After 404 and 410 the stored blob is not used any more", arguments: [404, 410])
    func gone(status: Int) async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(text: "old", headerFields: [.cacheControl: "max-age=5"])
            .thenAnswer(HTTPResponse.Status(code: status)).thenFail(.connection).thenAnswer(text: "new")
        _ = try await fixture.blobs.bytes(at: "a")
        fixture.clock.advance(by: .seconds(10))
        for reason in [RequestFailure.Reason.status, .connection] {
            let failure = await #expect(throws: RequestFailure.self) { try await fixture.blobs.bytes(at: "a") }
            #expect(failure?.reason == reason)
        }
        #expect(try await fixture.blobs.bytes(at: "a") == Data("new".utf8))
    }

    @Test("A partial response is refused, and 204 is an empty blob that is not stored")
    func otherStatuses() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(.partialContent, data: Data([1])).thenAnswer(.noContent)
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.blobs.bytes(at: "a") }
        #expect(failure?.status == .partialContent)
        #expect(try await fixture.blobs.bytes(at: "a") == Data())
        #expect(fixture.directory.names == [])
    }

    @Test("A response with no-store is returned to its callers and is not stored")
    func noStore() async throws {
        let fixture = try BlobFixture()
        let large = BlobFixture.bytes(3 << 20)
        fixture.transport.on(.get, "/v1/a").answer(text: "x", headerFields: [.cacheControl: "no-store"])
        fixture.transport.on(.get, "/v1/large").answer(
            pieces: BlobFixture.pieces(large), headerFields: [.cacheControl: "no-store"])
        #expect(try await fixture.blobs.bytes(at: "a") == Data("x".utf8))
        let file = try await fixture.blobs.file(at: "a")
        #expect(try Data(contentsOf: URL(filePath: file.path)) == Data("x".utf8))
        #expect(try await fixture.blobs.bytes(at: "large") == large)
        #expect(try await fixture.blobs.file(at: "large").bytes(in: 0..<100) == large.prefix(100))
        #expect(fixture.directory.names == [])
        #expect(fixture.transport.requestCount == 4)
        #expect(fixture.reserved == 0)
    }

    @Test("A blob of a request with credentials is stored only in a partition")
    func personal() async throws {
        for partition in [EntityPartition.shared, "account-7"] {
            let fixture = try BlobFixture { $0.partition = partition }
            let url = try RequestURL("https://h/v1/")
            fixture.environment.set(EnvironmentSnapshot(baseURL: url, headerFields: [.authorization: "secret"]))
            fixture.transport.on(.get, "/v1/a").answer(text: "x")
            _ = try await fixture.blobs.bytes(at: "a")
            #expect(fixture.directory.records.isEmpty == partition.isShared)
            #expect(fixture.directory.bodies.isEmpty == partition.isShared)
            // The blob of another partition is not found.
            let other = try BlobFixture(in: fixture.directory, clock: fixture.clock)
            other.transport.on(.get, "/v1/a").answer(text: "y")
            #expect(try await other.blobs.bytes(at: "a") == Data("y".utf8))
        }
    }

    @Test("A stored blob that cannot be decoded fails as decoding, and the next use contacts the server")
    func decoding() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(text: "bad", headerFields: [.eTag: "\"1\""])
            .thenAnswer(text: "good", headerFields: [.eTag: "\"2\""])
        let decode: @Sendable (Data) throws -> String = { bytes in
            guard bytes.count == 4 else { throw Broken() }
            return String(decoding: bytes, as: UTF8.self)
        }
        // Callers that need bytes take them as they are, and the bytes are stored.
        #expect(try await fixture.blobs.bytes(at: "a") == Data("bad".utf8))
        let failure = await #expect(throws: RequestFailure.self) {
            try await fixture.blobs.value(at: "a", decode: decode)
        }
        #expect(failure?.reason == .decoding && failure?.underlying is Broken)
        #expect(try await fixture.blobs.value(at: "a", decode: decode) == "good")
        #expect(fixture.transport.requests.last?.headerFields[.ifNoneMatch] == "\"1\"")
        #expect(try await fixture.blobs.value(at: "a", decode: decode) == "good")
        #expect(fixture.transport.requestCount == 2)
    }

    private nonisolated static var thread: UInt { UInt(pthread_self()) }

    @Test("Values are decoded off the main actor, even for its callers")
    @MainActor
    func decodingElsewhere() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(text: "x")
        let main = Self.thread
        for _ in 0..<2 {
            let isMain = try await fixture.blobs.value(at: "a") { _ in Self.thread == main }
            #expect(!isMain)
        }
    }

    @Test(
        "A foreign host is refused unless it is listed, and receives no credentials, whichever service loads the blob",
        arguments: [true, false])
    func foreign(hasOther: Bool) async throws {
        let separate = ScriptedTransport()
        let fixture = try BlobFixture(open: hasOther ? HTTPDataRequestService.forAnyServer(over: separate) : nil) {
            $0.foreignHosts = ["cdn.example.com"]
        }
        let other = hasOther ? separate : fixture.transport
        other.on(.get, "/b.png").answer(text: "b")
        let url = try RequestURL("https://h/v1/")
        fixture.environment.set(EnvironmentSnapshot(baseURL: url, headerFields: [.authorization: "secret"]))
        for url in ["https://other.example.com/b.png", "https://h/outside/b.png"] {
            let failure = await #expect(throws: RequestFailure.self) { try await fixture.blobs.bytes(at: url) }
            #expect(failure?.reason == .hostRefused)
        }
        for _ in 0..<2 {
            #expect(try await fixture.blobs.bytes(at: "https://cdn.example.com/b.png") == Data("b".utf8))
        }
        #expect(other.requestCount == 1 && fixture.transport.requestCount == (hasOther ? 0 : 1))
        #expect(other.requests.first?.headerFields[.authorization] == nil)
    }

    @Test("A path belongs to another blob after the base URL has changed")
    func environment() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(text: "one")
        fixture.transport.on(.get, "/v2/a").answer(text: "two")
        #expect(try await fixture.blobs.bytes(at: "a") == Data("one".utf8))
        fixture.environment.set(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v2/")))
        for _ in 0..<2 { #expect(try await fixture.blobs.bytes(at: "a") == Data("two".utf8)) }
    }

    @Test(
        "An address that is not a URL and a path with dot segments fail without a request",
        arguments: ["https://", "../a"])
    func invalid(address: String) async throws {
        let fixture = try BlobFixture()
        let failure = await #expect(throws: RequestFailure.self) { try await fixture.blobs.bytes(at: address) }
        #expect(failure?.reason == .invalidRequest)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test("Clearing the authorization removes the blobs of its origin")
    func authorization() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(text: "x")
        _ = try await fixture.blobs.bytes(at: "a")
        await fixture.requests.clearAuthorization()
        #expect(fixture.directory.names == [])
        _ = try await fixture.blobs.bytes(at: "a")
        #expect(fixture.transport.requestCount == 2)
    }
}
