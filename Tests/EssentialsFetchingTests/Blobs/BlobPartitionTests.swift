import EssentialsHTTP
import EssentialsStorage
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Glibc
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Blobs: tenants, accounts and logouts", .timeLimit(.minutes(5)))
struct BlobPartitionTests {
    /// Responds with the field of the request, so that the bytes show for whom they were made.
    private func fixture(
        in directory: BlobDirectory = BlobDirectory(), clock: ManualClock = ManualClock(), field: HTTPField.Name,
        _ change: (inout BlobService.Configuration) -> Void = { _ in }
    ) throws -> BlobFixture {
        let fixture = try BlobFixture(in: directory, clock: clock, change)
        fixture.transport.on(.get, "/v1/a").answer { request in
            ScriptedAnswer(text: request.headerFields[field] ?? "nobody")
        }
        return fixture
    }

    private func text(_ blobs: BlobService) async throws -> String {
        String(decoding: try await blobs.bytes(at: "a"), as: UTF8.self)
    }

    @Test(
        "Two environments that differ only in a header field share no blob, even after a restart",
        arguments: ["X-Tenant", "Accept-Language", "X-Api-Key", "Authorization", "Cookie"], ["", "production"])
    func tenants(field: String, name: String) async throws {
        let field = try #require(HTTPField.Name(field))
        let (directory, clock) = (BlobDirectory(), ManualClock())
        let url = try RequestURL("https://h/v1/")
        var requestCount = 0
        for _ in 0..<2 {
            let fixture = try fixture(in: directory, clock: clock, field: field) { $0.partition = "account-7" }
            for tenant in ["ada-secret", "grace-secret", nil, "ada-secret"] {
                var fields = HTTPFields()
                fields[field] = tenant
                fixture.environment.set(EnvironmentSnapshot(name: name, baseURL: url, headerFields: fields))
                for _ in 0..<2 { #expect(try await text(fixture.blobs) == tenant ?? "nobody") }
                let file = try await fixture.blobs.file(at: "https://h/v1/a")
                #expect(try await file.bytes(in: 0..<100) == Data((tenant ?? "nobody").utf8))
            }
            requestCount += fixture.transport.requestCount
        }
        // The second process has found all stored blobs.
        #expect(requestCount == 3)
        for name in directory.records {
            #expect(!String(decoding: try directory.bytes(name), as: UTF8.self).contains("secret"))
        }
        var status = stat()
        #expect(stat(directory.path + "/" + FingerprintKeyFile.name, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600 && status.st_size == 16)
    }

    @Test("A request with other credentials does not share the running transfer of the earlier ones")
    func joins() async throws {
        let (fixture, latch) = (try BlobFixture(), Latch())
        fixture.transport.on(.get, "/v1/a").answer { request in
            let user = request.headerFields[.authorization] ?? "nobody"
            if user == "Bearer ada" { await latch.wait() }
            return ScriptedAnswer(text: user)
        }
        let blobs = fixture.blobs
        fixture.requests.setAuthorization(try .bearer("ada"))
        let first = Task { try await text(blobs) }
        _ = try await fixture.transport.request(number: 1)
        fixture.requests.setAuthorization(try .bearer("grace"))
        #expect(try await text(blobs) == "Bearer grace")
        latch.open()
        #expect(try await first.value == "Bearer ada")
        #expect(try await text(blobs) == "Bearer grace")
    }

    @Test(
        "A transfer that began before a logout or other credentials is not stored", arguments: [false, true],
        [10, 2 << 20])
    func late(isReplaced: Bool, size: Int) async throws {
        let (fixture, latch) = (try BlobFixture { $0.partition = "account-7" }, Latch())
        let bytes = BlobFixture.bytes(size)
        fixture.transport.on(.get, "/v1/a").answer { _ in
            await latch.wait()
            return ScriptedAnswer(data: bytes)
        }
        let blobs = fixture.blobs
        fixture.requests.setAuthorization(try .bearer("ada"))
        let first = Task { try await blobs.bytes(at: "a") }
        _ = try await fixture.transport.request(number: 1)
        if isReplaced {
            fixture.requests.setAuthorization(try .bearer("grace"))
        } else {
            await fixture.requests.clearAuthorization()
        }
        latch.open()
        #expect(try await first.value == bytes)
        #expect(fixture.directory.names == [])
        #expect(fixture.reserved == 0)
    }

    @Test(
        "After other credentials are set, the blobs of an account are neither read nor stored until it is entered again"
    )
    func suspended() async throws {
        let fixture = try fixture(field: .authorization) { $0.partition = "ada" }
        let (blobs, requests) = (fixture.blobs, fixture.requests)
        requests.setAuthorization(try .bearer("ada"))
        for _ in 0..<2 { #expect(try await text(blobs) == "Bearer ada") }
        #expect(fixture.transport.requestCount == 1)
        requests.setAuthorization(try .bearer("grace"))
        for _ in 0..<2 { #expect(try await text(blobs) == "Bearer grace") }
        #expect(fixture.transport.requestCount == 3 && fixture.directory.records.count == 1)
        blobs.enter("grace")
        for _ in 0..<2 { #expect(try await text(blobs) == "Bearer grace") }
        #expect(fixture.transport.requestCount == 4 && fixture.directory.records.count == 2)
        requests.setAuthorization(try .bearer("ada"))
        blobs.enter("ada")
        #expect(try await text(blobs) == "Bearer ada")
        #expect(fixture.transport.requestCount == 4)
    }

    @Test("A logout removes only the blobs of the entered account")
    func logout() async throws {
        let fixture = try fixture(field: .authorization) { $0.partition = "ada" }
        let (blobs, requests) = (fixture.blobs, fixture.requests)
        requests.setAuthorization(try .bearer("ada"))
        #expect(try await text(blobs) == "Bearer ada")
        requests.setAuthorization(try .bearer("grace"))
        blobs.enter("grace")
        #expect(try await text(blobs) == "Bearer grace")
        await requests.clearAuthorization()
        #expect(fixture.directory.records.count == 1)
        requests.setAuthorization(try .bearer("ada"))
        blobs.enter("ada")
        #expect(try await text(blobs) == "Bearer ada")
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("Without an account, blobs of requests with credentials are not stored, whatever is allowed")
    func unnamed() async throws {
        let fixture = try fixture(field: .authorization) { $0.storesSensitiveResponses = true }
        for user in ["ada", "ada", "grace"] {
            fixture.requests.setAuthorization(try .bearer(user))
            #expect(try await text(fixture.blobs) == "Bearer \(user)")
        }
        #expect(fixture.transport.requestCount == 3 && fixture.directory.names == [])
    }

    @Test("A file that cannot be removed at a logout affects no other, and is not read, even after a restart")
    func unremovable() async throws {
        let (directory, clock, kept) = (BlobDirectory(), ManualClock(), KeptFile())
        var calls = FileCalls.system
        let unlink = calls.unlink
        calls.unlink = { path in
            kept.name.withLock { name in name.map { path.hasSuffix($0) } ?? false } ? EPERM : unlink(path)
        }
        func fixture(_ calls: FileCalls = .system) throws -> BlobFixture {
            let fixture = try BlobFixture(in: directory, clock: clock, calls: calls) { $0.partition = "ada" }
            fixture.transport.on(.get, "/v1/*").answer {
                ScriptedAnswer(text: $0.headerFields[.authorization] ?? "nobody")
            }
            return fixture
        }
        let first = try fixture(calls)
        first.requests.setAuthorization(try .bearer("ada"))
        for name in ["a", "b", "c", "d"] { _ = try await first.blobs.bytes(at: name) }
        let record = try #require(directory.records.first)
        kept.name.withLock { $0 = record }
        await first.requests.clearAuthorization()
        #expect(directory.names == [record] && directory.allNames.contains(".removals"))
        #expect(first.blobs.problems.count == 1 && first.blobs.problems.readableAfterRestart == [])
        // Blobs that are stored from now on are read.
        first.requests.setAuthorization(try .bearer("again"))
        first.blobs.enter("ada")
        for name in ["a", "b", "c", "d"] {
            for _ in 0..<2 {
                #expect(try await first.blobs.bytes(at: name) == Data("Bearer again".utf8))
            }
        }
        #expect(first.transport.requestCount == 8)
        // The file that could not be removed is not replaced, but removed as soon as that is possible.
        #expect(directory.records.count == 5 && directory.bodies.count == 4)
        kept.name.withLock { $0 = nil }
        await first.blobs.removeAll()
        #expect(directory.names == [])
    }

    @Test("The next process removes the blobs that could not be removed, and does not read them")
    func unremovableRestart() async throws {
        let (directory, clock) = (BlobDirectory(), ManualClock())
        var calls = FileCalls.system
        let unlink = calls.unlink
        let isKept = IsKept()
        calls.unlink = { isKept.value.load(ordering: .relaxed) ? EPERM : unlink($0) }
        let first = try BlobFixture(in: directory, clock: clock, calls: calls) { $0.partition = "ada" }
        first.transport.on(.get, "/v1/*").answer(text: "secret")
        first.requests.setAuthorization(try .bearer("ada"))
        for name in ["a", "b"] { _ = try await first.blobs.bytes(at: name) }
        isKept.value.store(true, ordering: .relaxed)
        await first.requests.clearAuthorization()
        #expect(directory.names.count == 4 && directory.allNames.contains(".removals"))
        let next = try BlobFixture(in: directory, clock: clock) { $0.partition = "ada" }
        next.transport.on(.get, "/v1/*").answer(text: "new")
        for name in ["a", "b"] { #expect(try await next.blobs.bytes(at: name) == Data("new".utf8)) }
        #expect(directory.names.count == 4)
    }

    /// The file that cannot be removed.
    private final class KeptFile: Sendable {
        let name = Mutex<String?>(nil)
    }

    /// Whether no file can be removed.
    private final class IsKept: Sendable {
        let value = Atomic(false)
    }
}
