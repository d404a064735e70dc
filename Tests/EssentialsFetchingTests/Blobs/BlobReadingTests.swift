import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Blobs: responses that cannot be decoded", .timeLimit(.minutes(5)))
struct BlobReadingTests {
    private struct Broken: Error {}

    private final class Count: Sendable {
        private let number = Mutex(0)
        var value: Int { number.withLock { $0 } }
        func increment() { number.withLock { $0 += 1 } }
    }

    /// Decodes bytes that begin with a number.
    private static func number(_ bytes: Data) throws -> UInt8 {
        guard let first = bytes.first, first < 10 else { throw Broken() }
        return first
    }

    private func blob(_ number: UInt8, _ size: Int) -> Data { Data([number]) + Data(repeating: 7, count: size) }
    private func portal(_ size: Int) -> Data { Data("<html>".utf8) + Data(repeating: 32, count: size) }

    @Test("A captive portal page of any size does not replace a blob", arguments: [10, 3 << 20])
    func portal(size: Int) async throws {
        let fixture = try BlobFixture()
        let good = blob(1, size)
        let fields: HTTPFields = [.eTag: "\"1\"", .cacheControl: "max-age=5"]
        fixture.transport.on(.get, "/v1/a").answer(data: good, headerFields: fields)
            .thenAnswer(data: portal(size)).thenAnswer(data: portal(size)).thenAnswer(.notModified)
        let blobs = fixture.blobs
        #expect(try await blobs.value(at: "a", decode: Self.number) == 1)
        fixture.clock.advance(by: .seconds(10))
        for _ in 0..<2 {
            let failure = await #expect(throws: RequestFailure.self) {
                try await blobs.value(at: "a", decode: Self.number)
            }
            #expect(failure?.reason == .decoding)
            #expect(failure?.underlying is Broken)
        }
        #expect(await blobs.usage.count == 1)
        // The blob that is still stored is validated with the server.
        #expect(try await blobs.bytes(at: "a") == good)
        #expect(fixture.transport.requests.map { $0.headerFields[.ifNoneMatch] } == [nil, "\"1\"", "\"1\"", "\"1\""])
    }

    @Test("A response that cannot be decoded is not stored if no blob was stored before")
    func firstResponse() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(data: portal(10)).thenAnswer(data: blob(2, 10))
        await #expect(throws: RequestFailure.self) { try await fixture.blobs.value(at: "a", decode: Self.number) }
        #expect(await fixture.blobs.usage.count == 0)
        #expect(try await fixture.blobs.value(at: "a", decode: Self.number) == 2)
    }

    @Test("A page with “no-store” does not remove the stored blob")
    func unstorable() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(data: blob(1, 10), headerFields: [.cacheControl: "max-age=5"])
            .thenAnswer(data: portal(10), headerFields: [.cacheControl: "no-store"]).thenAnswer(.serviceUnavailable)
        #expect(try await fixture.blobs.value(at: "a", decode: Self.number) == 1)
        fixture.clock.advance(by: .seconds(10))
        await #expect(throws: RequestFailure.self) { try await fixture.blobs.value(at: "a", decode: Self.number) }
        #expect(try await fixture.blobs.value(at: "a", decode: Self.number) == 1)
    }

    @Test("A response is stored if one of several callers can decode it, and each caller gets its own result")
    func several() async throws {
        let (fixture, latch, count) = (try BlobFixture(), Latch(), Count())
        let good = blob(3, 10)
        fixture.transport.on(.get, "/v1/a").answer { _ in
            await latch.wait()
            return ScriptedAnswer(data: good)
        }
        let blobs = fixture.blobs
        let failing = Task { try await blobs.value(at: "a") { _ -> Int in throw Broken() } }
        _ = try await fixture.transport.request(number: 1)
        let reading = Task {
            try await blobs.value(at: "a") { bytes in
                count.increment()
                return try Self.number(bytes)
            }
        }
        let raw = Task { try await blobs.bytes(at: "a") }
        while blobs.transfers.running.first?.askers != 3 { await Task.yield() }
        latch.open()
        await #expect(throws: RequestFailure.self) { try await failing.value }
        #expect(try await reading.value == 3)
        #expect(try await raw.value == good)
        #expect(count.value == 1)
        #expect(await blobs.usage.count == 1)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("A stored blob that cannot be decoded stays in doubt while the server sends a page instead of it")
    func doubted() async throws {
        let fixture = try BlobFixture()
        fixture.transport.on(.get, "/v1/a").answer(data: portal(1)).thenAnswer(data: portal(2))
            .thenAnswer(data: blob(4, 10))
        // Callers that need bytes take them as they are.
        _ = try await fixture.blobs.bytes(at: "a")
        for _ in 0..<2 {
            await #expect(throws: RequestFailure.self) { try await fixture.blobs.value(at: "a", decode: Self.number) }
        }
        #expect(try await fixture.blobs.value(at: "a", decode: Self.number) == 4)
        #expect(fixture.transport.requestCount == 3)
    }
}
