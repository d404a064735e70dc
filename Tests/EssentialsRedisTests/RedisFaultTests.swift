import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import EssentialsTransport
import FoundationEssentials
import Glibc
import TestTools
import Testing

@testable import EssentialsRedis

@Suite("Faults while machines share responses", .timeLimit(.minutes(5)), .enabled(if: RedisServer.isThere))
struct RedisFaultTests {
    /// How long the connections are broken at random. `ESSENTIALS_STORM` sets the seconds.
    private static let stormTime = Duration.seconds(
        getenv("ESSENTIALS_STORM").flatMap { Int(String(cString: $0)) } ?? 3)

    /// What the workers of a storm have seen.
    private final class Storm: Sendable {
        let failures = Mutex<[String]>([])
        let finds = Atomic<Int>(0)
        let isOver = Atomic<Bool>(false)

        /// Stores, finds and invalidates the responses of one URL, which no other worker changes.
        func work(_ number: Int, _ stores: [RedisResponseStore]) async throws {
            var numbers = SeededNumbers(state: UInt64(number))
            let key = ResponseKey.sample(try RequestURL("https://one.example/\(number)"), account: "ada")
            var (load, least) = (UInt64(0), UInt64(1))
            while !isOver.load(ordering: .relaxed) {
                let store = stores[0]
                switch Int.random(in: 0..<6, using: &numbers) {
                case 0:
                    await store.invalidate(key.url)
                    least = load + 1
                case 1...2:
                    guard let ticket = await store.ticket(for: key) else { continue }
                    load += 1
                    let body = Data(repeating: UInt8(load % 251), count: .random(in: 0...40_000, using: &numbers))
                    _ = await store.store(
                        .sample(load: load, body: load), body, for: key, replacing: nil, since: ticket)
                default:
                    await look(key, store, least: least)
                    // Another machine may find what was invalidated a moment ago, but never a torn body.
                    await look(key, stores[1], least: 0)
                }
            }
        }

        private func look(_ key: ResponseKey, _ store: RedisResponseStore, least: UInt64) async {
            for response in await store.lookup(key).responses {
                finds.add(1, ordering: .relaxed)
                if response.load < least { failures.withLock { $0.append("\(key.url): \(response.load) < \(least)") } }
                guard let body = await store.body(of: response, for: key)?.all() else { continue }
                if body.contains(where: { $0 != UInt8(response.bodyNumber % 251) }) {
                    failures.withLock { $0.append("\(key.url): a torn body") }
                }
            }
        }
    }

    @Test(
        "However often connections break, a machine never finds what it has invalidated, and no body is torn")
    func storm() async throws {
        let server = try await RedisServer()
        let clients = try (0..<2).map { _ in try server.client { $0.timeLimit = .seconds(1) } }
        let stores = clients.map { RedisResponseStore($0) }
        let storm = Storm()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 { group.addTask { try await storm.work(number, stores) } }
            group.addTask {
                let end = ContinuousClock.now + Self.stormTime
                var numbers = SeededNumbers(state: 1)
                while ContinuousClock.now < end {
                    // Long enough for connections to be opened again.
                    let pause = Int.random(in: 150...600, using: &numbers)
                    try await Task.sleep(for: .milliseconds(pause))
                    try await server.run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
                }
                storm.isOver.store(true, ordering: .relaxed)
            }
            try await group.waitForAll()
        }
        #expect(storm.failures.withLock { $0.prefix(5) } == [])
        #expect(storm.finds.load(ordering: .relaxed) > 100)
        #expect(clients[0].health.connections > 2)
        #expect(clients[0].health.waitingChanges == 0)
    }

    @Test("A server that is paused delays no request for long, and is used again afterwards")
    func pause() async throws {
        let server = try await RedisServer()
        let origin = try LoopbackServer { _ in .response(headers: [("Cache-Control", "max-age=60")], body: "M") }
        let client = try server.client { $0.timeLimit = .milliseconds(20) }
        var configuration = HTTPDataRequestService.Configuration()
        configuration.cache = ResponseCache(store: RedisResponseStore(client))
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(origin.url), transport: try CurlTransport(trust: .system),
            configuration: configuration)
        func isHit() async throws -> Bool {
            if case .hit = try await service.send(DataRequest(.get, "films")).cache?.outcome { true } else { false }
        }
        func becomesHit() async throws -> Bool {
            let end = ContinuousClock.now + .seconds(60)
            while try await !isHit() { guard ContinuousClock.now < end else { return false } }
            return true
        }
        try await client.connect()
        #expect(try await becomesHit())
        try await server.run("CLIENT", "PAUSE", "1500", "ALL")
        let start = ContinuousClock.now
        var count = 0
        while ContinuousClock.now - start < .milliseconds(1_000) {
            _ = try await isHit()
            count += 1
        }
        #expect(count > 10)
        #expect(try await becomesHit())
    }

    @Test("A process that was stopped does not serve what another one has invalidated meanwhile")
    func stoppedProcess() async throws {
        let server = try await RedisServer()
        let version = Atomic<Int>(0)
        let origin = try LoopbackServer { request in
            if request.method == "POST" {
                version.add(1, ordering: .relaxed)
                return .response(status: 204)
            }
            return .response(
                headers: [("Cache-Control", "max-age=600"), ("X-Version", "\(version.load(ordering: .relaxed))")],
                body: "M")
        }
        let base = origin.url
        let probes = try (0..<2).map { _ in try ChildProcess("CacheProbe", [base, "--redis", server.url]) }
        @Sendable func line(_ probe: ChildProcess, _ id: Int, _ method: String = "GET") async throws -> String {
            let text = try await ChildProcess.onThread {
                probe.reply(to: #"{"id":\#(id),"url":"\#(base)/films","method":"\#(method)"}"#)
            }
            return text ?? ""
        }
        // The first process has the response in its memory.
        for id in 0..<20 { _ = try await line(probes[0], id) }
        let kept = try await line(probes[0], 20)
        #expect(kept.contains("; hit") && kept.contains(#""X-Version","0""#), "\(kept)")
        probes[0].send(signal: SIGSTOP)
        _ = try await line(probes[1], 0, "POST")
        try await Task.sleep(for: .milliseconds(2_500))
        probes[0].send(signal: SIGCONT)
        let now = try await line(probes[0], 21)
        #expect(now.contains(#""X-Version","1""#), "\(now)")
        for probe in probes { try await ChildProcess.onThread { probe.finish() } }
    }
}
