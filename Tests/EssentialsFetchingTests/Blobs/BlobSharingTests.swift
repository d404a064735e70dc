import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Blobs: shared transfers", .timeLimit(.minutes(5)))
struct BlobSharingTests {
    /// Waits until so many callers wait for the only transfer.
    private func waitForAskers(_ count: Int, _ fixture: BlobFixture) async {
        while fixture.blobs.transfers.running.map(\.askers) != [count] { await Task.yield() }
    }

    @Test("1,000 callers of one URL share one transfer, by path and by URL, for bytes, values and files")
    func thousand() async throws {
        let (fixture, latch) = (try BlobFixture(), Latch())
        let bytes = BlobFixture.bytes(100_000)
        fixture.transport.on(.get, "/v1/a").answer { _ in
            await latch.wait()
            return ScriptedAnswer(data: bytes)
        }
        let blobs = fixture.blobs
        try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<1_000 {
                group.addTask {
                    let address = index % 2 == 0 ? "a" : "https://h/v1/a"
                    switch index % 3 {
                    case 0: return try await blobs.bytes(at: address).count
                    case 1: return try await blobs.value(at: address) { $0.count }
                    default: return Int(try await blobs.file(at: address).size)
                    }
                }
            }
            await waitForAskers(1_000, fixture)
            latch.open()
            for try await count in group { #expect(count == 100_000) }
        }
        #expect(fixture.transport.requestCount == 1)
        #expect(blobs.transfers.running.isEmpty)
    }

    @Test("A cancelled caller leaves at once, and the transfer ends with the last caller")
    func cancelled() async throws {
        let fixture = try BlobFixture()
        let piece = BlobFixture.bytes(2 << 20)
        fixture.transport.on(.get, "/v1/a").answer(pieces: [.bytes(piece), .pause(.seconds(1_000)), .bytes(piece)])
        let blobs = fixture.blobs
        let askers = (0..<3).map { _ in Task { try await blobs.bytes(at: "a") } }
        await waitForAskers(3, fixture)
        await fixture.clock.waitForSleepers(count: 1)
        #expect(fixture.directory.names.count == 1)
        for (index, asker) in askers.enumerated() {
            #expect(fixture.clock.sleeperCount == 1)
            asker.cancel()
            let failure = await #expect(throws: RequestFailure.self) { try await asker.value }
            #expect(failure?.reason == .cancelled)
            if index < 2 { #expect(blobs.transfers.running.map(\.askers) == [2 - index]) }
        }
        // The body is no longer read, and the written bytes are removed.
        while fixture.clock.sleeperCount > 0 || !blobs.transfers.running.isEmpty { await Task.yield() }
        #expect(fixture.directory.names == [])
        #expect(fixture.reserved == 0)
        // A new caller begins a new transfer.
        fixture.transport.on(.get, "/v1/a").answer(text: "x")
        #expect(try await blobs.bytes(at: "a") == Data("x".utf8))
    }

    @Test("A transfer that waits for its turn gets the priority of its most urgent caller")
    func priority() async throws {
        let (fixture, latch) = (try BlobFixture(concurrency: 1), Latch())
        fixture.transport.on(.get, "/v1/first").answer { _ in
            await latch.wait()
            return ScriptedAnswer(text: "x")
        }
        for name in ["a", "b", "c"] { fixture.transport.on(.get, "/v1/\(name)").answer(text: "x") }
        let blobs = fixture.blobs
        var tasks = [Task { _ = try await blobs.bytes(at: "first") }]
        _ = try await fixture.transport.request(number: 1)
        for (name, priority) in [("a", RequestPriority.low), ("b", .background), ("c", .normal)] {
            tasks.append(Task { _ = try await blobs.bytes(at: name, priority: priority) })
            // It waits in the queue of the data-request service.
            while !blobs.transfers.running.contains(where: {
                $0.address.text.hasSuffix(name) && $0.priority.handlerCount > 0
            }) { await Task.yield() }
        }
        tasks.append(Task { _ = try await blobs.bytes(at: "b", priority: .interactive) })
        while !blobs.transfers.running.contains(where: { $0.priority.value == .interactive }) { await Task.yield() }
        latch.open()
        for task in tasks { try await task.value }
        #expect(fixture.transport.requests.map(\.url.path) == ["first", "b", "c", "a"].map { "/v1/\($0)" })
    }

    /// A transport that holds a request until it has become urgent.
    private struct UrgentTransport: Transport {
        func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
            while request.priority != .interactive { await Task.yield() }
            return TransportResponse(HTTPResponse(status: .ok, headerFields: [:]), body: ResponseBody(Data("x".utf8)))
        }

        func shutdown() async {}
    }

    @Test("A transfer from a foreign host gets the priority of its most urgent caller")
    func foreignPriority() async throws {
        let fixture = try BlobFixture(open: HTTPDataRequestService.forAnyServer(over: UrgentTransport())) {
            $0.foreignHosts = ["cdn.example.com"]
        }
        let (blobs, url) = (fixture.blobs, "https://cdn.example.com/a")
        let first = Task { try await blobs.bytes(at: url, priority: .background) }
        await waitForAskers(1, fixture)
        #expect(try await blobs.bytes(at: url, priority: .interactive) == Data("x".utf8))
        #expect(try await first.value == Data("x".utf8))
    }

    @Test("A caller with a smaller maximum fails alone, and a transfer that exceeds every maximum ends early")
    func maximum() async throws {
        let fixture = try BlobFixture()
        let bytes = BlobFixture.bytes(3 << 20)
        fixture.transport.on(.get, "/v1/a").answer(pieces: BlobFixture.pieces(bytes))
        let blobs = fixture.blobs
        let failure = await #expect(throws: RequestFailure.self) { try await blobs.bytes(at: "a", upTo: 2 << 20) }
        #expect(failure?.reason == .tooLarge)
        #expect(fixture.directory.names == [])
        let (small, large) = (Task { try await blobs.bytes(at: "a", upTo: 1) }, Task { try await blobs.file(at: "a") })
        await #expect(throws: RequestFailure.self) { try await small.value }
        #expect(try await large.value.size == 3 << 20)
        // The stored blob has a size as well.
        await #expect(throws: RequestFailure.self) { try await blobs.bytes(at: "a", upTo: 100) }
        #expect(try await blobs.bytes(at: "a", upTo: 3 << 20) == bytes)
    }

    @Test("A caller that comes after a transfer has exceeded every maximum starts another one")
    func late() async throws {
        let (fixture, latch) = (try BlobFixture(), Latch())
        fixture.transport.on(.get, "/v1/a").answer { _ in
            await latch.wait()
            return ScriptedAnswer(text: "abc")
        }
        let blobs = fixture.blobs
        let small = Task { try await blobs.bytes(at: "a", upTo: 1) }
        await waitForAskers(1, fixture)
        // The first transfer finds out that the blob is too large, and has not ended yet.
        #expect(throws: RequestFailure.self) { try blobs.transfers.running[0].check(2) }
        let large = Task { try await blobs.bytes(at: "a") }
        while fixture.transport.requests.count < 2, blobs.transfers.running.allSatisfy({ $0.askers < 2 }) {
            await Task.yield()
        }
        latch.open()
        let failure = await #expect(throws: RequestFailure.self) { try await small.value }
        #expect(failure?.reason == .tooLarge)
        #expect(try await large.value == Data("abc".utf8))
        #expect(fixture.transport.requests.count == 2)
    }

    @Test("Closing the service cancels its transfers, and later calls fail as closed")
    func close() async throws {
        let (fixture, latch) = (try BlobFixture(), Latch())
        fixture.transport.on(.get, "/v1/a").answer { _ in
            await latch.wait()
            return ScriptedAnswer(text: "x")
        }
        let blobs = fixture.blobs
        let asker = Task { try await blobs.bytes(at: "a") }
        await waitForAskers(1, fixture)
        await blobs.close()
        var failure = await #expect(throws: RequestFailure.self) { try await asker.value }
        #expect(failure?.reason == .cancelled)
        failure = await #expect(throws: RequestFailure.self) { try await blobs.bytes(at: "a") }
        #expect(failure?.reason == .closed)
        latch.open()
    }

    @Test("A blob that is removed while its transfer runs is not stored", arguments: [false, true])
    func removed(isAll: Bool) async throws {
        let (fixture, latch) = (try BlobFixture(), Latch())
        for name in ["a", "large"] {
            let bytes = BlobFixture.bytes(name == "a" ? 10 : 2 << 20)
            fixture.transport.on(.get, "/v1/\(name)").answer { _ in
                await latch.wait()
                return ScriptedAnswer(data: bytes)
            }
        }
        let blobs = fixture.blobs
        let askers = [Task { try await blobs.bytes(at: "a").count }, Task { try await blobs.bytes(at: "large").count }]
        _ = try await fixture.transport.request(number: 2)
        if isAll {
            await blobs.removeAll()
        } else {
            try await blobs.remove(at: "a")
            try await blobs.remove(at: "large")
        }
        latch.open()
        #expect(try await askers[0].value == 10)
        #expect(try await askers[1].value == 2 << 20)
        #expect(fixture.directory.names == [])
        #expect(fixture.reserved == 0)
    }

    @Test("A caller after a change of the environment does not share a transfer that began before")
    func environment() async throws {
        let (fixture, latch) = (try BlobFixture(), Latch())
        fixture.transport.on(.get, "/v1/a", headerFields: [.acceptLanguage: "2"]).answer(text: "new")
        fixture.transport.on(.get, "/v1/a", headerFields: [.acceptLanguage: "1"]).answer { _ in
            await latch.wait()
            return ScriptedAnswer(text: "old", headerFields: [.cacheControl: "no-store"])
        }
        let (blobs, url) = (fixture.blobs, try RequestURL("https://h/v1/"))
        fixture.environment.set(EnvironmentSnapshot(baseURL: url, headerFields: [.acceptLanguage: "1"]))
        let first = Task { try await blobs.bytes(at: "a") }
        _ = try await fixture.transport.request(number: 1)
        fixture.environment.set(EnvironmentSnapshot(baseURL: url, headerFields: [.acceptLanguage: "2"]))
        #expect(try await blobs.bytes(at: "a") == Data("new".utf8))
        latch.open()
        _ = await first.result
        #expect(blobs.transfers.running.isEmpty)
        // The older response does not remove the newer blob.
        #expect(try await blobs.bytes(at: "a") == Data("new".utf8))
        #expect(fixture.transport.requestCount == 2)
    }
}
