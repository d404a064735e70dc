import Dispatch
import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials

/// What the server has returned for a fetch.
enum ServedModel: Sendable {
    /// A value with the time since the server sent it, and whether a cache may keep it in memory only.
    case value(FetchedModel, age: Duration, isMemoryOnly: Bool)
    /// The `nil` of an optional model, because the server has nothing.
    case nothing(FetchedModel)
    /// An empty body for a model that is not optional.
    case empty
    /// 404 or 410 for a model that is not optional.
    case gone(RequestFailure)
    case failure(RequestFailure)

    /// The reply without its value.
    var reply: FetchMachine.ServerReply {
        switch self {
        case .value: .value
        case .nothing: .nothing
        case .empty: .empty
        case .gone: .gone
        case .failure(let failure): failure.reason == .cancelled ? .cancelled : .failure
        }
    }

    var failure: RequestFailure? {
        switch self {
        case .value, .nothing, .empty: nil
        case .gone(let failure), .failure(let failure): failure
        }
    }
}

/// What the cache has returned for a fetch.
struct LoadedModel: Sendable {
    let model: FetchedModel
    /// When the server sent it.
    let date: Date
}

/// A fetch as a run sees it, which does not know the type of the model.
protocol FetchWork: AnyObject, Sendable {
    var source: FetchSource { get }
    var options: FetchOptions { get }
    var clock: RequestClock { get }
    /// Whether there is a cache, and a key for it.
    var hasCache: Bool { get }

    /// Sends the request and reads its response.
    func serve() async -> ServedModel
    /// The cached model; `nil` also if the cache fails.
    func load() async -> LoadedModel?
    /// Stores a model of this fetch.
    func save(_ model: FetchedModel, age: Duration, isMemoryOnly: Bool) async
    /// Deletes the cached model.
    func delete() async
}

/// A fetch as it was described. Each iteration performs it once.
final class Fetch<Value: Codable & Sendable>: FetchWork {
    let source: FetchSource
    let options: FetchOptions
    let clock: RequestClock
    let hasCache: Bool
    private let key: FetchKey?
    private let requests: any DataRequestService
    private let cache: (any AsyncCache)?
    private let problems: CacheProblemLog?
    private let request: DataRequest
    /// Why the request could not be built; `nil` if it could.
    private let refusal: RequestFailure?
    private let reader: NestedReader<Value>
    private let storesSensitiveResponses: Bool

    init(
        _ request: consuming DataRequest, _ refusal: RequestFailure?, below nested: NestedPath?, key: FetchKey?,
        _ source: FetchSource, _ options: FetchOptions, _ service: some FetchingService, _ defaults: FetchDefaults
    ) {
        requests = service.requests
        reader = NestedReader(nested, codecs: request.codecs ?? requests.codecs)
        self.request = reader.requesting(request)
        self.refusal = refusal
        self.key = key
        self.source = source
        self.options = options
        cache = service.modelCache
        hasCache = cache != nil && key != nil
        clock = defaults.clock
        problems = defaults.cacheProblems
        storesSensitiveResponses = defaults.storesSensitiveResponses
    }

    // MARK: The server

    func serve() async -> ServedModel {
        do throws(RequestFailure) {
            if let refusal { throw refusal }
            let hasIdentity = isPrivacyChecked && requests.hasClientIdentity
            let response = try await requests.send(request)
            guard response.status != .notModified else { throw notModified(response) }
            let model = try await reader.model(from: response, to: request.method)
            if isOptional, (model as? any OptionalModel)?.isNothing == true { return .nothing(ModelBox(model)) }
            return .value(
                ModelBox(model), age: response.storedUse?.age ?? .zero,
                isMemoryOnly: isMemoryOnly(response, hasIdentity))
        } catch {
            return served(error)
        }
    }

    private var isOptional: Bool { Value.self is any OptionalModel.Type }

    private func served(_ failure: RequestFailure) -> ServedModel {
        let isGone = failure.reason == .status && [404, 410].contains(failure.status?.code)
        guard isGone || failure.reason == .emptyBody else { return .failure(failure) }
        if let nothing = (Value.self as? any OptionalModel.Type)?.nothing as? Value {
            return .nothing(ModelBox(nothing))
        }
        return isGone ? .gone(failure) : .empty
    }

    /// A server that confirms what the cache of models has does not say what that is, so the response has no value.
    private func notModified(_ response: DataResponse) -> RequestFailure {
        RequestFailure(
            .status, "The server answered 304, which has no model.",
            remedy: "Send no condition of your own; a response cache below the service sends one.",
            phase: .receiving, response: FailedResponse(head: response.head, body: Data()))
    }

    // MARK: The cache

    /// Whether it matters if the cache may store a response.
    private var isPrivacyChecked: Bool { hasCache && options.caches && !storesSensitiveResponses }

    private func isMemoryOnly(_ response: DataResponse, _ hasIdentity: Bool) -> Bool {
        guard isPrivacyChecked, let key else { return false }
        return CacheRules.isMemoryOnly(response, to: request, partition: key.partition, hasIdentity: hasIdentity)
    }

    func load() async -> LoadedModel? {
        guard let cache, let key else { return nil }
        do {
            guard let cached = try await cache.load(key.typed() as ModelKey<Value>) else { return nil }
            return LoadedModel(model: ModelBox(cached.value), date: cached.date)
        } catch {
            problems?.add(error, "load")
            return nil
        }
    }

    /// - Parameter age: The time since the server sent it, which is above zero if it comes from a response cache.
    func save(_ model: FetchedModel, age: Duration, isMemoryOnly: Bool) async {
        guard let cache, let key, let box = model as? ModelBox<Value> else { return }
        let date = clock.date.addingTimeInterval(-(age / .seconds(1)))
        let cached = CachedModel(box.value, date: date, isMemoryOnly: isMemoryOnly)
        do { try await cache.save(cached, for: key.typed()) } catch { problems?.add(error, "save") }
    }

    func delete() async {
        guard let cache, let key else { return }
        do { try await cache.delete(key.typed() as ModelKey<Value>) } catch { problems?.add(error, "delete") }
    }
}

extension Fetch: EmissionSource {
    func begin() -> any EmissionRun { FetchRun(self) }

    var callbackQueue: DispatchQueue { requests.callbackQueue }
}
