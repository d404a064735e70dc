import EssentialsHTTP
import EssentialsReachability
import EssentialsStorage
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Glibc

@testable import EssentialsFetching
@testable import EssentialsRequests

/// Outboxes over real files, a scripted transport and a clock that is moved by hand.
final class OutboxFixture: Sendable {
    let clock = ManualClock()
    let transport: ScriptedTransport
    let environment: MutableEnvironment
    let requests: HTTPDataRequestService
    let timelines = RequestTimelines()
    let directory = "/tmp/essentials-outbox-\(getpid())-\(UInt64.random(in: .min ... .max))"

    init() throws {
        transport = ScriptedTransport(clock: clock)
        environment = MutableEnvironment(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v1/")))
        var settings = HTTPDataRequestService.Configuration()
        settings.clock = clock.requestClock
        settings.observers = [timelines]
        requests = HTTPDataRequestService(environment: environment, transport: transport, configuration: settings)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func outbox(
        partition: EntityPartition? = .shared, reachability: (any ReachabilityService)? = nil,
        calls: FileCalls = .system, _ change: (inout Outbox.Configuration) -> Void = { _ in }
    ) throws -> Outbox {
        var configuration = Outbox.Configuration()
        configuration.clock = clock.requestClock
        change(&configuration)
        return try Outbox(
            OutboxFiles(directory, calls), requests, environment, partition, reachability, configuration)
    }

    /// The names in the directory, sorted, without those of empty files for later entries.
    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
            .filter { OutboxFiles.Name($0)?.kind != .spare }
    }

    /// The number of empty files for later entries.
    var spareCount: Int {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [])
            .count { OutboxFiles.Name($0)?.kind == .spare }
    }

    /// The endings of the names in the directory, sorted.
    var kinds: [String] {
        names.compactMap { OutboxFiles.Name($0)?.kind.rawValue }.sorted()
    }

    func path(_ id: OutboxEntry.ID, _ kind: OutboxFiles.Kind) -> String {
        directory + "/" + OutboxFiles.Name(id, kind).text
    }

    func view(_ number: Int) -> DataRequest { DataRequest(.post, "views", parameters: ["id": number]) }
}

extension RecordedRequest {
    var key: String? { headerFields[HTTPField.Name("Idempotency-Key")!] }
}
