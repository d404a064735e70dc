import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsRequests

/// Random requests, logins, switches, changes at the server and settings of the clock, compared with a model that knows for
/// whom each byte was made and since when it is out of date.
@Suite("Response cache against a model", .timeLimit(.minutes(sequenceCount > 200 ? 60 : 5)))
struct CacheModelTests {
    @Test("No response is another account's or tenant's, or older than it may be", arguments: 0..<8)
    func sequences(group: Int) async throws {
        for number in 0..<max(1, sequenceCount / 8) {
            try await check(UInt64(group * 1_000 + number % 25 + (number / 25) << 20), .memory)
        }
    }

    @Test(
        "The same with responses in files, which two caches share, and with restarts",
        arguments: [CacheKind.files, .memoryAndFiles], 0..<3)
    func sequencesInFiles(kind: CacheKind, group: Int) async throws {
        for number in 0..<max(1, sequenceCount / 25) {
            try await check(UInt64(group * 1_000 + 500 + number % 8 + (number / 8) << 20), kind)
        }
    }

    private func check(_ seed: UInt64, _ kind: CacheKind) async throws {
        let scratch = try ScratchDirectory()
        var run = try CacheModelRun(seed: seed, kind, scratch("cache"))
        for step in 0..<60 {
            let fault = try await run.step()
            try #require(fault == nil, "seed \(seed), step \(step): \(fault ?? "")\n\(run.trace.suffix(12))")
        }
        try await run.finish()
    }
}

/// How many sequences are tried in memory; in files it is an eighth of them, in each of two ways.
/// `ESSENTIALS_CACHE_SEQUENCES` names another number than 200.
private let sequenceCount =
    ProcessInfo.processInfo.environment["ESSENTIALS_CACHE_SEQUENCES"].flatMap { Int($0) } ?? 200

/// The server: each path has a version, which some requests and the model change.
private final class ModelServer: Sendable {
    struct Change: Sendable {
        let version: Int
        let time: Duration
    }

    struct State {
        var changes: [String: [Change]] = [:]
        var styles: [String: HTTPFields] = [:]
        var held: LoopbackGate?
    }

    let state = Mutex(State())

    func version(of path: String) -> Int { state.withLock { $0.changes[path]?.last?.version ?? 0 } }

    func change(_ path: String, at time: Duration) {
        state.withLock { state in
            let version = (state.changes[path]?.last?.version ?? 0) + 1
            state.changes[path, default: []].append(Change(version: version, time: time))
        }
    }

    /// The oldest version that a response may have which was made at a time or later.
    ///
    /// A response with `stale-while-revalidate` may have been made at that very time, before a change at the same time. A fresh one
    /// is younger.
    func oldestVersion(of path: String, since time: Duration) -> Int {
        state.withLock { state in
            let mayBeAsOld = state.styles[path]?[.cacheControl]?.contains("stale-while-revalidate") == true
            return state.changes[path]?.last { mayBeAsOld ? $0.time < time : $0.time <= time }?.version ?? 0
        }
    }

    /// The response to a request. What it says depends on whose it is, and on the language.
    func reply(to request: TransportRequest, at time: Duration) async -> CacheOrigin.Reply {
        let path = request.url.path.description
        if request.method == .post {
            change(path, at: time)
            return .init(status: .noContent)
        }
        // A validation in the background is not held: requests that wait for it would wait for ever.
        let isValidation = request.headerFields.contains(.ifNoneMatch)
        let (fields, gate) = state.withLock { state in
            (state.styles[path] ?? [:], isValidation ? nil : state.held.take())
        }
        let text = Self.text(request, fields, version(of: path))
        let language = Self.language(request, fields)
        let tag = "\"\(version(of: path))\(language)\""
        await gate?.opened()
        return CacheOrigin.reply(to: request, tag: tag, fields, body: text)
    }

    private static let tenant = HTTPField.Name("X-Tenant")

    /// The language of a response, if it depends on that.
    static func language(_ request: TransportRequest, _ style: HTTPFields) -> String {
        let varies = style[.vary]?.contains("Accept-Language") == true
        return varies ? request.headerFields[.acceptLanguage] ?? "-" : "*"
    }

    private static func text(_ request: TransportRequest, _ style: HTTPFields, _ version: Int) -> String {
        let fields = request.headerFields
        let whose = "\(fields[.authorization] ?? "-")/\(tenant.flatMap { fields[$0] } ?? "-")"
        return "\(whose)/\(language(request, style))/\(version)"
    }
}

/// One sequence.
private struct CacheModelRun {
    let server: ModelServer
    let origin: CacheOrigin
    /// With files but no memory there are two, as of two processes.
    private var caches: [ResponseCache] = []
    private let kind: CacheKind
    private let path: String
    private let transport: TrustedStub
    var random: SeededNumbers
    var trace: [String] = []
    private var services: [HTTPDataRequestService] = []
    private var environments: [SwitchableEnvironment] = []
    /// Whose credentials each service has, and in which environment it is.
    private var accounts: [String?]
    private var tenants: [String]
    /// The version of a path when its responses were removed last.
    private var removals: [String: Int] = [:]
    private var late: [Task<String, any Error>] = []

    private static let paths = ["/a", "/b", "/c"]
    private static let lifetime = Duration.seconds(10)
    private static let styles: [HTTPFields] = [
        [.cacheControl: "max-age=10"], [.cacheControl: "private, max-age=10"], [.cacheControl: "no-store"],
        [.cacheControl: "no-cache"], [.cacheControl: "max-age=10", .vary: "Accept-Language"], [:],
        [.cacheControl: "max-age=5, must-revalidate", .vary: "Accept-Language, Authorization"],
        [.cacheControl: "max-age=5, stale-while-revalidate=5"],
    ]

    init(seed: UInt64, _ kind: CacheKind, _ path: String) throws {
        (self.kind, self.path) = (kind, path)
        let server = ModelServer()
        self.server = server
        let clock = Mutex<ManualClock?>(nil)
        let origin = CacheOrigin { request in
            await server.reply(to: request, at: clock.withLock { $0 }?.bootTime.elapsed ?? .zero)
        }
        self.origin = origin
        clock.withLock { $0 = origin.clock }
        random = SeededNumbers(state: seed)
        accounts = [nil, nil, nil]
        tenants = ["t0", "t0", "t0"]
        transport = TrustedStub(origin.transport())
        for path in Self.paths {
            let style = Self.styles.randomElement(using: &random) ?? [:]
            server.state.withLock { $0.styles[path] = style }
        }
        try start()
    }

    /// Makes caches and services.
    private mutating func start() throws {
        caches = try (0..<(kind == .files ? 2 : 1)).map { _ in try kind.cache(path) }
        (services, environments) = ([], [])
        for number in 0..<3 {
            let environment = try SwitchableEnvironment(["t0", "t1"].map { try Self.environment($0) })
            environments.append(environment)
            let cache = caches[number % caches.count]
            services.append(try origin.service(cache, over: transport, environment: environment))
        }
        (accounts, tenants) = ([nil, nil, nil], ["t0", "t0", "t0"])
    }

    /// Ends all services, as the end of the process does, and begins anew with what is in files.
    private mutating func restart() async throws {
        guard kind != .memory else { return }
        trace.append("restart")
        try await release()
        for service in services { await service.shutdown() }
        for cache in caches { await cache.settle() }
        try start()
    }

    private static func environment(_ tenant: String) throws -> EnvironmentSnapshot {
        EnvironmentSnapshot(
            name: tenant, baseURL: try RequestURL("https://h/"),
            headerFields: [try #require(HTTPField.Name("X-Tenant")): tenant])
    }

    private var now: Duration { origin.clock.bootTime.elapsed }

    /// - Returns: What is wrong; `nil` if nothing is.
    mutating func step() async throws -> String? {
        let index = Int.random(in: 0..<3, using: &random)
        let path = Self.paths.randomElement(using: &random) ?? "/a"
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<10: return try await get(index, path)
        case 10:
            trace.append("post \(path)")
            _ = try await services[index].send(.post(path, body: ["x": 1]))
            removals[path] = server.version(of: path)
        case 11:
            trace.append("change \(path)")
            server.change(path, at: now)
        case 12: try logIn(index)
        case 13:
            trace.append("\(index) logs out")
            await services[index].clearAuthorization()
            accounts[index] = nil
        case 14:
            let tenant = tenants[index] == "t0" ? "t1" : "t0"
            trace.append("\(index) in \(tenant)")
            try environments[index].select(tenant)
            tenants[index] = tenant
        case 15: origin.clock.advance(by: .seconds(Int.random(in: 1...6, using: &random)))
        case 16:
            let jump: Double = [-31_536_000, -10, 10, 86_400].randomElement(using: &random) ?? 0
            trace.append("the date jumps by \(jump)")
            origin.clock.date += jump
        case 17:
            trace.append("invalidate \(path)")
            await caches[0].invalidate(try RequestURL("https://h" + path))
            removals[path] = server.version(of: path)
        case 18: await hold(index, path)
        case 19 where Int.random(in: 0..<3, using: &random) == 0: try await restart()
        default: try await release()
        }
        return nil
    }

    private mutating func logIn(_ index: Int) throws {
        let account = ["ada", "bob"].randomElement(using: &random) ?? "ada"
        trace.append("\(index) is \(account)")
        var credentials = try Credentials.bearer(account)
        if Bool.random(using: &random) { credentials.account = EntityPartition(account) }
        services[index].setAuthorization(credentials)
        accounts[index] = account
    }

    private mutating func get(_ index: Int, _ path: String) async throws -> String? {
        let policies: [CachePolicy] = [.standard, .standard, .standard, .revalidate, .reload, .preferStored, .bypass]
        let policy = policies.randomElement(using: &random) ?? .standard
        let language = ["de", "en"].randomElement(using: &random) ?? "de"
        let isStreamed = Bool.random(using: &random)
        let waiting = letWaitsEnd()
        defer { waiting?.cancel() }
        let response = try await services[index].response(
            path, policy, fields: [.acceptLanguage: language], isStreamed: isStreamed)
        let stream = isStreamed ? "streamed " : ""
        trace.append("\(index) \(policy) \(path) \(stream)\(language): \(response.text) \(response.cacheStatus ?? "")")
        let varies = server.state.withLock { $0.styles[path]?[.vary]?.contains("Accept-Language") == true }
        let whose = "\(accounts[index].map { "Bearer \($0)" } ?? "-")/\(tenants[index])/\(varies ? language : "*")/"
        guard response.status == .ok, response.text.hasPrefix(whose),
            let version = Int(response.text.dropFirst(whose.count))
        else { return "expected \(whose), got \(response.status) \(response.text)" }
        let oldest = oldestVersion(path, policy)
        return version >= oldest && version <= server.version(of: path) ? nil : "version \(version) is before \(oldest)"
    }

    /// Lets short waits of the test's clock end: a cache waits a little for another one with the same directory, also for one from
    /// before a restart, which validates the same URL or gives its lease back.
    private func letWaitsEnd() -> Task<Void, any Error>? {
        guard kind != .memory else { return nil }
        let clock = origin.clock
        return Task {
            while true {
                try await Task.sleep(for: .milliseconds(20))
                if let next = clock.nextDeadline, next.duration(to: clock.now) >= .milliseconds(-25) {
                    clock.advanceToNextDeadline()
                }
            }
        }
    }

    /// The oldest version that a response may have.
    private func oldestVersion(_ path: String, _ policy: CachePolicy) -> Int {
        let removed = removals[path] ?? 0
        switch policy {
        case .revalidate, .reload, .bypass: return server.version(of: path)
        case .preferStored, .onlyIfStored: return removed
        case .standard: return max(removed, server.oldestVersion(of: path, since: now - Self.lifetime))
        }
    }

    /// Begins a request whose response waits at the server.
    private mutating func hold(_ index: Int, _ path: String) async {
        guard late.isEmpty else { return }
        trace.append("\(index) waits for \(path)")
        let gate = LoopbackGate()
        server.state.withLock { $0.held = gate }
        gates.append(gate)
        let service = services[index]
        late.append(Task { try await service.text(path, .reload, fields: [.acceptLanguage: "de"]) })
        // Another request would wait at the server instead.
        await until { server.state.withLock { $0.held == nil } }
    }

    private var gates: [LoopbackGate] = []

    /// Lets the waiting response come.
    mutating func release() async throws {
        trace.append("release")
        for gate in gates { gate.open() }
        gates = []
        server.state.withLock { $0.held = nil }
        for task in late { _ = try? await task.value }
        late = []
    }

    mutating func finish() async throws { try await release() }
}
