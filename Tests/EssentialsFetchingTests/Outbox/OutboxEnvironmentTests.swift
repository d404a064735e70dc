import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Glibc
import Logging
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Outbox: environments", .timeLimit(.minutes(5)))
struct OutboxEnvironmentTests {
    let fixture: OutboxFixture
    private var transport: ScriptedTransport { fixture.transport }

    init() throws { fixture = try OutboxFixture() }

    private static let tenant = HTTPField.Name("X-Tenant")

    private func environment(
        _ name: String = "", _ url: String = "https://h/v1/", tenant: String? = nil
    ) throws -> EnvironmentSnapshot {
        var fields = HTTPFields()
        if let tenant { fields[try #require(Self.tenant)] = tenant }
        return EnvironmentSnapshot(name: name, baseURL: try RequestURL(url), headerFields: fields)
    }

    /// Leaves an entry of an environment in the directory.
    private func addOne(in environment: EnvironmentSnapshot) async throws {
        fixture.environment.set(environment)
        let outbox = try fixture.outbox()
        outbox.pause()
        try await outbox.add(fixture.view(1))
        await outbox.close()
    }

    /// Whether the entry is sent in an environment, and why not.
    private func difference(
        in environment: EnvironmentSnapshot, isRestarted: Bool
    ) async throws -> OutboxEntry.EnvironmentDifference? {
        let outbox = try fixture.outbox()
        outbox.pause()
        try await outbox.open()
        if !isRestarted { fixture.environment.set(environment) }
        outbox.resume()
        try await outbox.drain()
        let entries = try await outbox.entries
        await outbox.close()
        #expect(entries.allSatisfy { $0.state == .otherEnvironment })
        #expect(entries.isEmpty == (transport.requestCount > 0))
        return entries.first?.environmentDifference
    }

    @Test("A named environment at another URL gets its entries, at that URL", arguments: [false, true])
    func moved(isRestarted: Bool) async throws {
        transport.on(.post, "/**").answer(.ok)
        try await addOne(in: try environment("production"))
        let moved = try environment("production", "https://new.example.com/v2/")
        if isRestarted { fixture.environment.set(moved) }
        #expect(try await difference(in: moved, isRestarted: isRestarted) == nil)
        #expect(transport.requests.map(\.url.description) == ["https://new.example.com/v2/views"])
    }

    @Test("An environment without a name at another URL does not get the entries", arguments: [false, true])
    func unnamed(isRestarted: Bool) async throws {
        try await addOne(in: try environment())
        let other = try environment("", "https://other.example.com/")
        if isRestarted { fixture.environment.set(other) }
        #expect(try await difference(in: other, isRestarted: isRestarted) == .environment)
    }

    @Test(
        "An environment with other header fields does not get the entries, regardless of its name",
        arguments: ["", "production"], [false, true])
    func fields(name: String, isRestarted: Bool) async throws {
        try await addOne(in: try environment(name, tenant: "ada"))
        for tenant in ["grace", nil] {
            let other = try environment(name, tenant: tenant)
            if isRestarted { fixture.environment.set(other) }
            #expect(try await difference(in: other, isRestarted: isRestarted) == .headerFields)
        }
        // The entry's own environment gets it, with its own field.
        transport.on(.post, "/**").answer(.ok)
        let own = try environment(name, tenant: "ada")
        fixture.environment.set(own)
        #expect(try await difference(in: own, isRestarted: true) == nil)
        #expect(transport.requests.map { $0.headerFields[Self.tenant!] } == ["ada"])
    }

    @Test("A waiting entry shows its environment")
    func listed() async throws {
        try await addOne(in: try environment("staging", "https://s.example.com/v1/?key=1", tenant: "ada"))
        fixture.environment.set(try environment("production", tenant: "ada"))
        let outbox = try fixture.outbox()
        let entry = try #require(try await outbox.entries.first)
        #expect(entry.state == .otherEnvironment && entry.environmentDifference == .environment)
        #expect(entry.environmentName == "staging" && entry.baseURL == "https://s.example.com/v1/")
        var reader = outbox.statuses.makeAsyncIterator()
        #expect(await reader.next()?.environmentDifference == .environment)
        fixture.environment.set(try environment("staging", tenant: "grace"))
        #expect(await reader.next()?.environmentDifference == .headerFields)
        await outbox.close()
    }

    @Test("Header values are not stored, and their key is readable only for its user")
    func secrets() async throws {
        try await addOne(in: try environment("production", tenant: "very-secret"))
        #expect(fixture.names.contains("key"))
        for name in try FileManager.default.contentsOfDirectory(atPath: fixture.directory) {
            let path = fixture.directory + "/" + name
            let bytes = try #require(FileManager.default.contents(atPath: path))
            #expect(!String(decoding: bytes, as: UTF8.self).contains("very-secret"))
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        }
        // Another outbox has another key, so equal fields cannot be recognized.
        let other = try OutboxFixture()
        #expect(try await hash(in: fixture, of: "very-secret") != hash(in: other, of: "very-secret"))
        #expect(try await hash(in: fixture, of: "very-secret") == hash(in: fixture, of: "very-secret"))
    }

    /// The hash of a tenant's field in the directory of an outbox.
    private func hash(in fixture: OutboxFixture, of tenant: String) async throws -> String {
        fixture.environment.set(try environment("production", tenant: tenant))
        let outbox = try fixture.outbox()
        outbox.pause()
        let id = try await outbox.add(fixture.view(2))
        let hash = outbox.core.reading { $0.entry(id)?.environment.fields }
        await outbox.close()
        return try #require(hash)
    }

    @Test("Without header fields no key is stored, and a lost key makes entries wait")
    func key() async throws {
        try await addOne(in: try environment("production"))
        #expect(fixture.names.count == 2)
        try await addOne(in: try environment("production", tenant: "ada"))
        #expect(fixture.names.count == 4)
        unlink(fixture.directory + "/key")
        let outbox = try fixture.outbox()
        try await outbox.drain()
        #expect(try await outbox.entries.map(\.environmentDifference) == [.headerFields, .headerFields])
        await outbox.close()
    }

    @Test("Each environment that entries wait for is logged once")
    func logged() async throws {
        transport.on(.post, "/**").answer(.ok)
        try await addOne(in: try environment("staging"))
        try await addOne(in: try environment("production", tenant: "ada"))
        try await addOne(in: try environment("production", tenant: "ada"))
        fixture.environment.set(try environment("production", tenant: "grace"))
        let lines = Lines()
        let outbox = try fixture.outbox { configuration in
            configuration.logger = Logger(label: "test") { _ in Handler(lines: lines) }
            configuration.logger.logLevel = .debug
        }
        for name in ["production", "other", "production", "staging"] {
            try await outbox.drain()
            fixture.environment.set(try environment(name, tenant: "grace"))
        }
        try await outbox.drain()
        let found = lines.all.sorted { "\($0)" < "\($1)" }
        #expect(found.count == 2)
        #expect(
            Set(found.map { $0["difference"]?.description ?? "" }) == ["header fields", "name"])
        #expect(Set(found.map { $0["environment"]?.description ?? "" }) == ["production", "staging"])
        #expect(Set(found.map { $0["count"]?.description ?? "" }) == ["1", "2"])
        await outbox.close()
    }

    private final class Lines: Sendable {
        private let lines = Mutex<[Logger.Metadata]>([])

        var all: [Logger.Metadata] { lines.withLock { $0 } }
        func add(_ line: Logger.Metadata) { lines.withLock { $0.append(line) } }
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace

        init(lines: Lines) { self.lines = lines }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            guard event.message.description.contains("another environment") else { return }
            lines.add(event.metadata ?? [:])
        }
    }

    @Test("After other credentials are set, nothing is added or sent for a partition until it is entered again")
    func suspended() async throws {
        transport.on(.post, "/v1/views").answer(.ok)
        fixture.requests.setAuthorization(try .bearer("ada"))
        let outbox = try fixture.outbox(partition: "ada")
        outbox.pause()
        try await outbox.add(fixture.view(1))
        fixture.requests.setAuthorization(try .bearer("grace"))
        let failure = await #expect(throws: RequestFailure.self) { try await outbox.add(fixture.view(2)) }
        #expect(failure?.reason == .authorization)
        outbox.resume()
        try await outbox.drain()
        #expect(transport.requestCount == 0)
        await outbox.enter("grace")
        try await outbox.add(fixture.view(3))
        try await outbox.drain()
        #expect(transport.requests.map(\.bodyText) == [#"{"id":3}"#])
        fixture.requests.setAuthorization(try .bearer("ada"))
        await outbox.enter("ada")
        try await outbox.drain()
        #expect(transport.requests.map(\.bodyText) == [3, 1].map { "{\"id\":\($0)}" })
        #expect(transport.requests.map { $0.headerFields[.authorization] } == ["Bearer grace", "Bearer ada"])
        #expect(try await outbox.entries == [])
    }
}
