import EssentialsFetching
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import TestTools
import Testing

/// A cache in memory whose calls can fail and wait.
final class TestCache: AsyncCache {
    struct Fault: Error {}

    /// A function of the cache.
    enum Call: Sendable, Hashable { case save, load, delete }

    private struct State {
        var models: [AnySendableKey: any Sendable] = [:]
        var faults: Set<Call> = []
        var latches: [Call: Latch] = [:]
        var calls: [Call] = []
        var began: [Call: Latch] = [:]
    }

    private struct AnySendableKey: Hashable, Sendable {
        let key: String
        let type: ObjectIdentifier
    }

    private let state = Mutex(State())

    /// The calls in their order.
    var calls: [Call] { state.withLock { $0.calls } }
    /// The number of models.
    var count: Int { state.withLock { $0.models.count } }

    /// Makes calls fail from now on.
    func fail(_ calls: Call...) { state.withLock { $0.faults = Set(calls) } }

    /// Makes calls wait until the latch is open.
    func hold(_ call: Call, until latch: Latch) { state.withLock { $0.latches[call] = latch } }

    /// Waits until a call has begun.
    func begun(_ call: Call) async {
        let latch = state.withLock { state in
            let latch = state.began[call] ?? Latch()
            state.began[call] = latch
            if state.calls.contains(call) { latch.open() }
            return latch
        }
        await latch.wait()
    }

    private func enter(_ call: Call) async throws {
        let (latch, began) = state.withLock { state in
            state.calls.append(call)
            return (state.latches[call], state.began[call])
        }
        began?.open()
        await latch?.wait()
        if state.withLock({ $0.faults.contains(call) }) { throw Fault() }
    }

    private func name<Value>(_ key: ModelKey<Value>) -> AnySendableKey {
        AnySendableKey(key: "\(key)\(key.partition.name)", type: ObjectIdentifier(Value.self))
    }

    /// Stores a model without being called by a fetch.
    func put<Value>(_ model: CachedModel<Value>, for key: ModelKey<Value>) {
        let name = name(key)
        state.withLock { $0.models[name] = model }
    }

    /// The stored model. Reading it does not count as a call by a fetch.
    func stored<Value>(_ key: ModelKey<Value>) -> Value? {
        let name = name(key)
        return state.withLock { ($0.models[name] as? CachedModel<Value>)?.value }
    }

    func save<Value: Codable & Sendable>(_ model: CachedModel<Value>, for key: ModelKey<Value>) async throws {
        try await enter(.save)
        put(model, for: key)
    }

    func load<Value: Codable & Sendable>(_ key: ModelKey<Value>) async throws -> CachedModel<Value>? {
        try await enter(.load)
        let name = name(key)
        return state.withLock { $0.models[name] as? CachedModel<Value> }
    }

    func delete<Value: Codable & Sendable>(_ key: ModelKey<Value>) async throws {
        try await enter(.delete)
        let name = name(key)
        state.withLock { $0.models[name] = nil }
    }

    func deleteAll() async throws { state.withLock { $0.models = [:] } }

    func contains<Value: Codable & Sendable>(_ key: ModelKey<Value>) async throws -> Bool { stored(key) != nil }
}

/// A data-request service that replies with the result of a closure.
final class StubRequests: DataRequestService {
    private let reply: @Sendable (DataRequest) async throws(RequestFailure) -> DataResponse
    private let sent = Mutex<[DataRequest]>([])

    let codecs = CodecRegistry.standard
    /// The requests in their order.
    var requests: [DataRequest] { sent.withLock { $0 } }

    init(_ reply: @escaping @Sendable (DataRequest) async throws(RequestFailure) -> DataResponse) { self.reply = reply }

    func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
        sent.withLock { $0.append(request) }
        return try await reply(request)
    }
}

/// Lets other tasks run until a condition holds, or until the time limit of the test has passed.
func eventually(_ condition: () -> Bool, _ location: SourceLocation = #_sourceLocation) async {
    while !condition(), !Task.isCancelled { await Task.yield() }
    #expect(condition(), sourceLocation: location)
}

struct Coin: Codable, Sendable, Equatable {
    var name: String
}

/// A service with a cache.
struct CoinService: FetchingService, ModelCaching {
    let requests: any DataRequestService
    let cache: any AsyncCache
    var fetchDefaults = FetchDefaults()
    var partition = EntityPartition.shared
    var schemaVersion: UInt32 = 0
}

/// A service without a cache.
struct PlainCoinService: FetchingService {
    let requests: any DataRequestService
}

/// A service over a scripted transport, a cache in memory and a clock that is moved by hand.
struct FetchFixture {
    let clock = ManualClock()
    let transport: ScriptedTransport
    let requests: HTTPDataRequestService
    let cache = TestCache()
    let problems = CacheProblemLog()
    let service: CoinService

    init(_ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }) throws {
        transport = ScriptedTransport(clock: clock)
        var settings = HTTPDataRequestService.Configuration()
        settings.clock = clock.requestClock
        change(&settings)
        requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://h/v1/"), transport: transport, configuration: settings)
        service = CoinService(
            requests: requests, cache: cache,
            fetchDefaults: FetchDefaults(clock: clock.requestClock, cacheProblems: problems))
    }

    /// The key of `coins`.
    var key: ModelKey<Coin> { service.modelKey(named: "coins") }

    /// Stores a model that was received some time ago.
    func preset(_ name: String, age: Duration = .zero) {
        let date = clock.date.addingTimeInterval(-(age / .seconds(1)))
        cache.put(CachedModel(Coin(name: name), date: date), for: key)
    }
}

/// The values of a fetch in a short form, and its failure.
struct FetchTrace: Sendable, Equatable {
    var values: [String] = []
    var failure: RequestFailure.Reason?

    init(_ emissions: Emissions<Coin>) async {
        do throws(RequestFailure) {
            for try await emission in emissions {
                values.append("\(emission.source) \(emission.value.name)\(emission.failure == nil ? "" : " !")")
            }
        } catch {
            failure = error.reason
        }
    }

    init(_ values: [String], _ failure: RequestFailure.Reason? = nil) {
        (self.values, self.failure) = (values, failure)
    }
}
