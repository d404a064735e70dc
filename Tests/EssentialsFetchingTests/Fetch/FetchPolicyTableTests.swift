import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

/// All combinations of sources, options, states of the cache and replies of the server.
///
/// With the variable `ESSENTIALS_WRITES_POLICIES` in the environment, the test writes `Fixtures/fetch-policies.txt`.
@Suite(.timeLimit(.minutes(5))) struct FetchPolicyTableTests {
    private typealias Model = SlowFetchModel

    @Test("Each source acts as the table says, with each cache, server and combination of options")
    func product() async throws {
        for source in Model.Source.allCases {
            for options in FetchOptions.all {
                for cache in Model.Cache.allCases {
                    for server in Model.Server.allCases {
                        let model = Model(source: source, options: options, cache: cache, server: server)
                        let outcome = await PolicyRun(model).outcome()
                        #expect(outcome == model.outcome, "\(source) \(options) cache \(cache) server \(server)")
                    }
                }
            }
        }
    }

    @Test("The table in the repository is up to date")
    func text() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Fixtures/fetch-policies.txt").standardized.path
        if ProcessInfo.processInfo.environment["ESSENTIALS_WRITES_POLICIES"] != nil {
            try Data(FetchPolicyTable.text.utf8).write(to: URL(filePath: path))
        }
        let written = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        #expect(written == FetchPolicyTable.text)
    }

    @Test("The order in which options are set makes no difference, nor does setting one twice")
    func order() {
        var one = FetchOptions()
        one.caches = false
        one.emitsValue = false
        var other = FetchOptions()
        other.emitsValue = false
        other.caches = false
        other.caches = false
        #expect(one == other)
        #expect(one == FetchOptions(emitsValue: false, caches: false))
        #expect(Set(FetchOptions.all).count == 16)
    }
}

/// One fetch over a cache and a server that reply in the order that the model names.
private struct PolicyRun {
    private let model: SlowFetchModel
    private let cache = TestCache()
    private let clock = ManualClock()
    /// Opened when the first value was emitted or the sequence has ended.
    private let observed = Latch()
    private let cacheReply = Latch()

    init(_ model: SlowFetchModel) { self.model = model }

    func outcome() async -> SlowFetchModel.Outcome {
        let requests = StubRequests { [self] _ throws(RequestFailure) in try await reply() }
        var service = CoinService(requests: requests, cache: cache)
        service.fetchDefaults.clock = clock.requestClock
        let key: ModelKey<Coin> = service.modelKey(named: "coins")
        if model.cache != .miss {
            let age = model.cache == .stale ? 120.0 : 5
            cache.put(CachedModel(Coin(name: "old"), date: clock.date.addingTimeInterval(-age)), for: key)
        }
        if model.cache == .fault { cache.fail(.load) }
        if asksBoth, model.cache == .slow, model.server != .slow { cache.hold(.load, until: cacheReply) }
        var outcome = SlowFetchModel.Outcome()
        do throws(RequestFailure) {
            for try await emission in service.get("coins", from: source, options: model.options, as: Coin.self) {
                outcome.emitted.append(emission.value.name + (emission.failure == nil ? "" : " with the failure"))
                observed.open()
            }
        } catch {
            outcome.end = "throws \(error.status.map { "\($0.code)" } ?? error.reason.name)"
        }
        observed.open()
        cacheReply.open()
        outcome.requests = requests.requests.count
        outcome.stored = cache.stored(key)?.name
        return outcome
    }

    private var source: FetchSource {
        switch model.source {
        case .cache: .cache
        case .backend: .backend
        case .cacheThenBackend: .cacheThenBackend
        case .cacheElseBackend: .cacheElseBackend
        case .cacheElseBackendWithin60s: .cacheElseBackend(maximumAge: .seconds(60))
        case .backendElseCache: .backendElseCache
        case .both: .both
        }
    }

    private var asksBoth: Bool {
        [.cacheThenBackend, .both].contains(model.source) && !model.options.cachedPreventsDownload
    }

    /// Whether the reply of the server has to wait for a cached value.
    private var comesSecond: Bool {
        asksBoth && ([.hit, .stale].contains(model.cache) || model.cache == .slow && model.server == .slow)
    }

    private func reply() async throws(RequestFailure) -> DataResponse {
        if comesSecond { await observed.wait() }
        // A source that emits only the server's value gets the cached one after that.
        if model.source == .cacheThenBackend || [.notModified, .error, .noPath].contains(model.server) {
            cacheReply.open()
        }
        switch model.server {
        case .value, .slow: return DataResponse(body: Data(#"{"name":"new"}"#.utf8))
        case .empty: return DataResponse(.noContent)
        case .notModified: throw failure(.notModified)
        case .notFound: throw failure(.notFound)
        case .error: throw failure(.internalServerError)
        case .noPath: throw RequestFailure(.connection, "There is no path to the server.")
        }
    }

    private func failure(_ status: HTTPResponse.Status) -> RequestFailure {
        let response = FailedResponse(head: HTTPResponse(status: status), body: Data())
        return RequestFailure(.status, "The status is \(status.code).", response: response)
    }
}
