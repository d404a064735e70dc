import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Blobs: environments", .timeLimit(.minutes(5)))
struct BlobEnvironmentTests {
    private struct Broken: Error {}

    private let one: EnvironmentSnapshot
    private let two: EnvironmentSnapshot

    init() throws {
        one = EnvironmentSnapshot(name: "one", baseURL: try RequestURL("https://h/v1/"))
        two = EnvironmentSnapshot(name: "two", baseURL: try RequestURL("https://h/v2/"))
    }

    @Test(
        "A transfer that began in one environment and ends in another one does not serve the path of the other one",
        arguments: [10, 2 << 20])
    func late(size: Int) async throws {
        let (fixture, latch) = (try BlobFixture(), Latch())
        let (old, new) = (BlobFixture.bytes(size, seed: 1), BlobFixture.bytes(size, seed: 2))
        fixture.transport.on(.get, "/v1/x").answer { _ in
            await latch.wait()
            return ScriptedAnswer(data: old)
        }
        fixture.transport.on(.get, "/v2/x").answer(data: new)
        let blobs = fixture.blobs
        fixture.environment.set(one)
        let first = Task { try await blobs.bytes(at: "x") }
        _ = try await fixture.transport.request(number: 1)
        fixture.environment.set(two)
        #expect(try await blobs.bytes(at: "x") == new)
        latch.open()
        #expect(try await first.value == old)
        #expect(try await blobs.bytes(at: "x") == new)
        #expect(try await blobs.file(at: "x").bytes(in: 0..<Int64(size)) == new)
        #expect(try await blobs.value(at: "x") { $0 } == new)
        // It is stored under its own key.
        fixture.environment.set(one)
        #expect(try await blobs.bytes(at: "x") == old)
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("A blob that cannot be decoded is loaded again, and not the blob at its path in another environment")
    func doubt() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(text: "bad", headerFields: [.eTag: "\"1\""])
            .thenAnswer(text: "good")
        fixture.transport.on(.get, "/v2/a").answer(text: "two", headerFields: [.eTag: "\"2\""])
        let (blobs, environment, two) = (fixture.blobs, fixture.environment, two)
        environment.set(two)
        _ = try await blobs.bytes(at: "a")
        environment.set(one)
        #expect(try await blobs.bytes(at: "a") == Data("bad".utf8))
        let failure = await #expect(throws: RequestFailure.self) {
            try await blobs.value(at: "a") { _ -> Int in
                environment.set(two)
                throw Broken()
            }
        }
        #expect(failure?.reason == .decoding)
        #expect(try await blobs.bytes(at: "a") == Data("two".utf8))
        #expect(fixture.transport.requestCount == 2)
        environment.set(one)
        #expect(try await blobs.bytes(at: "a") == Data("good".utf8))
        #expect(fixture.transport.requests.last?.headerFields[.ifNoneMatch] == "\"1\"")
    }
}
