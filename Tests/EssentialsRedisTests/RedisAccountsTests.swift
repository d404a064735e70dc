import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import EssentialsTransport
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRedis

@Suite("Who gets what machines share", .timeLimit(.minutes(10)), .enabled(if: RedisServer.isThere))
struct RedisAccountsTests {
    /// Whose credentials a service has.
    enum Account: Sendable, CaseIterable {
        /// None.
        case anonymous
        /// Those of an account that the application has named.
        case named
        /// Those of an account without a name.
        case unnamed
        /// A key of an API in each request.
        case key
    }

    private static func service(
        _ store: RedisResponseStore, _ origin: LoopbackServer, _ credentials: Credentials? = nil
    ) throws -> HTTPDataRequestService {
        var configuration = HTTPDataRequestService.Configuration()
        configuration.cache = ResponseCache(store: store)
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(origin.url), transport: try CurlTransport(trust: .system),
            configuration: configuration)
        if let credentials { service.setAuthorization(credentials) }
        return service
    }

    private static func credentials(_ account: Account) throws -> Credentials? {
        guard account == .named || account == .unnamed else { return nil }
        var credentials = try Credentials.bearer("token")
        credentials.account = account == .named ? "ada" : nil
        return credentials
    }

    /// The fields of a response, and who may get it from another machine: from a private cache, and from one that others share.
    private static let fields: [(HTTPFields, own: Set<Account>, shared: Set<Account>)] = [
        ([.cacheControl: "max-age=60"], [.anonymous, .named], [.anonymous]),
        ([.cacheControl: "private, max-age=60"], [.anonymous, .named], []),
        ([.cacheControl: "public, max-age=60"], [.anonymous, .named], [.anonymous, .named]),
        ([.cacheControl: "s-maxage=60"], [], [.anonymous, .named]),
        ([.cacheControl: "max-age=60, must-revalidate"], [.anonymous, .named], [.anonymous, .named]),
        ([.cacheControl: "no-store"], [], []),
        ([.cacheControl: "no-cache, max-age=60"], [], []),
        ([.cacheControl: "max-age=60", .vary: "Accept-Language"], [.anonymous, .named], [.anonymous]),
        ([.cacheControl: "max-age=60", .vary: "*"], [], []),
        ([.cacheControl: "private=\"X-Secret\", max-age=60"], [.anonymous, .named], []),
    ]

    @Test("A response reaches another machine exactly if HTTP and the application allow it", arguments: [false, true])
    func rules(isShared: Bool) async throws {
        let server = try await RedisServer()
        let origin = try LoopbackServer { request in
            let number = Int(request.path.split(separator: "/").last ?? "") ?? 0
            return .response(
                headers: Self.fields[number].0.map { ($0.name.rawName, $0.value) }, body: "content")
        }
        for account in Account.allCases {
            let services = try (0..<2).map { _ in
                try Self.service(
                    RedisResponseStore(try server.client { $0.isShared = isShared }), origin, Self.credentials(account))
            }
            for (number, row) in Self.fields.enumerated() {
                let before = origin.requestCount
                for service in services {
                    var request = DataRequest(.get, "\(account)/\(number)")
                    if account == .key { request.headerFields[HTTPField.Name("X-Api-Key")!] = "k3y" }
                    _ = try await service.send(request)
                }
                let isExpected = (isShared ? row.shared : row.own).contains(account)
                #expect(
                    origin.requestCount - before == (isExpected ? 1 : 2), "\(row.0), \(account), shared: \(isShared)")
            }
        }
    }

    /// What random requests see.
    private final class Observation: Sendable {
        let versions = Mutex<[String: Int]>([:])
        let failures = Mutex<[String]>([])
        let hits = Atomic<Int>(0)

        /// Answers a request at the server: with the account, and the number of changes.
        func reply(to request: ServerRequest) -> ServerReply {
            let path = String(request.path)
            if request.method == "POST" {
                versions.withLock { $0[path, default: 0] += 1 }
                return .response(status: 204)
            }
            let account = request.headers.first { $0.name.lowercased() == "authorization" }?.value ?? "nobody"
            let version = versions.withLock { $0[path] ?? 0 }
            return .response(headers: [("Cache-Control", "max-age=60")], body: "\(account) \(version)")
        }

        /// Sends requests of random accounts through one machine. A worker changes its own paths only.
        func work(_ worker: Int, _ machine: [HTTPDataRequestService], count: Int) async {
            var numbers = SeededNumbers(state: UInt64(worker))
            for _ in 0..<count {
                let account = Int.random(in: 0..<machine.count, using: &numbers)
                let isOwn = Bool.random(using: &numbers)
                let path = isOwn ? "own/\(worker)" : "common/\(Int.random(in: 0..<5, using: &numbers))"
                let changes = isOwn && Int.random(in: 0..<8, using: &numbers) == 0
                do {
                    if changes { _ = try await machine[account].send(DataRequest(.post, path)) }
                    try await look(path, account, machine[account])
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }

        private func look(_ path: String, _ account: Int, _ service: HTTPDataRequestService) async throws {
            let least = versions.withLock { $0["/" + path] ?? 0 }
            let response = try await service.send(DataRequest(.get, path))
            if case .hit? = response.cache?.outcome { hits.add(1, ordering: .relaxed) }
            let text = String(decoding: response.body.data ?? Data(), as: UTF8.self)
            let expected = account == 0 ? "nobody " : "Bearer account\(account) "
            let version = Int(text.split(separator: " ").last ?? "") ?? -1
            guard !text.hasPrefix(expected) || version < least else { return }
            failures.withLock { $0.append("\(path) of \(expected)\(least): \(text)") }
        }
    }

    @Test("No account of ten on two machines gets what another one has fetched, nor anything older than its own change")
    func random() async throws {
        let server = try await RedisServer()
        let observation = Observation()
        let origin = try LoopbackServer { observation.reply(to: $0) }
        let machines = try (0..<2).map { _ in
            let store = RedisResponseStore(try server.client())
            return try (0..<10).map { number in
                var credentials = try Credentials.bearer("account\(number)")
                credentials.account = EntityPartition("account\(number)")
                return try Self.service(store, origin, number == 0 ? nil : credentials)
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask { await observation.work(worker, machines[worker % 2], count: Self.requests / 8) }
            }
        }
        #expect(observation.failures.withLock { $0.prefix(5) } == [])
        #expect(observation.hits.load(ordering: .relaxed) > Self.requests / 10)
    }

    /// The number of random requests.
    private static let requests = 2_000

    @Test("Two processes that need a response at once ask the server once")
    func oneFetch() async throws {
        let server = try await RedisServer()
        let origin = try LoopbackServer { request in
            .response(
                headers: [("Cache-Control", request.path.contains("stored") ? "max-age=60" : "no-store")],
                body: "content"
            )
        }
        let base = origin.url
        let probes = try (0..<2).map { _ in try ChildProcess("CacheProbe", [base, "--redis", server.url]) }
        // Both are ready.
        for probe in probes {
            let line = try await ChildProcess.onThread {
                probe.reply(to: #"{"id":1000,"url":"\#(base)/unstored","method":"GET"}"#)
            }
            #expect(line?.contains("\"status\":200") == true)
        }
        var counts: [Int] = []
        for round in 0..<5 {
            let before = origin.requestCount
            for id in 0..<100 {
                for probe in probes { probe.send(#"{"id":\#(id),"url":"\#(base)/stored/\#(round)","method":"GET"}"#) }
            }
            for probe in probes {
                let lines = try await ChildProcess.onThread { (0..<100).map { _ in probe.line() } }
                #expect(lines.allSatisfy { $0?.contains("\"status\":200") == true })
            }
            counts.append(origin.requestCount - before)
        }
        // A process that is held up for more than 100 ms asks by itself.
        #expect(counts.allSatisfy { $0 <= 2 } && counts.contains(1), "\(counts)")
        for probe in probes { try await ChildProcess.onThread { probe.finish() } }
    }
}
