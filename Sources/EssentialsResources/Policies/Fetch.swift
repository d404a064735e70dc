import Dispatch
import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials

/// What the server has returned for a fetch.
enum ServedModel<Value: Sendable>: Sendable {
    /// A value with the time since the server sent it, and whether a cache may keep it in memory only.
    case value(Value, age: Duration, isMemoryOnly: Bool)
    /// The `nil` of an optional model, because the server has nothing.
    case nothing(Value)
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

/// A fetch as it was described. Each iteration performs it once.
final class Fetch<Value: Codable & Sendable>: Sendable {
    let source: FetchSource
    let options: FetchOptions
    let clock: RequestClock
    private let key: ModelKey<Value>?
    private let requests: any DataRequestService
    private let cache: (any AsyncCache)?
    private let problems: CacheProblemLog?
    private let request: DataRequest
    /// Why the request could not be built; `nil` if it could.
    private let refusal: RequestFailure?
    private let reader: NestedReader<Value>
    private let storesSensitiveResponses: Bool

    init(
        _ request: consuming DataRequest, _ refusal: RequestFailure?, below nested: NestedPath?, key: ModelKey<Value>?,
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
        clock = defaults.clock
        problems = defaults.cacheProblems
        storesSensitiveResponses = defaults.storesSensitiveResponses
    }

    // MARK: The server

    /// Sends the request and reads its response.
    func serve() async -> ServedModel<Value> {
        do throws(RequestFailure) {
            if let refusal { throw refusal }
            let hasIdentity = isPrivacyChecked && requests.hasClientIdentity
            let response = try await requests.send(request)
            guard response.status != .notModified else { throw Self.notModified(response) }
            let model = try await reader.model(from: response, to: request.method)
            if (model as? any OptionalModel)?.isNothing == true { return .nothing(model) }
            return .value(
                model, age: response.storedUse?.age ?? .zero, isMemoryOnly: isMemoryOnly(response, hasIdentity))
        } catch {
            return Self.served(error)
        }
    }

    private static func served(_ failure: RequestFailure) -> ServedModel<Value> {
        let isGone = failure.reason == .status && [404, 410].contains(failure.status?.code)
        guard isGone || failure.reason == .emptyBody else { return .failure(failure) }
        if let nothing = (Value.self as? any OptionalModel.Type)?.nothing as? Value { return .nothing(nothing) }
        return isGone ? .gone(failure) : .empty
    }

    /// A server that confirms what the cache of models has does not say what that is, so the response has no value.
    private static func notModified(_ response: DataResponse) -> RequestFailure {
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

    /// Whether there is a cache, and a key for it.
    var hasCache: Bool { cache != nil && key != nil }

    /// The cached model; `nil` also if the cache fails.
    func load() async -> CachedModel<Value>? {
        guard let cache, let key else { return nil }
        do {
            return try await cache.load(key)
        } catch {
            problems?.add(error, "load")
            return nil
        }
    }

    /// A value of the server as it is stored.
    ///
    /// - Parameter age: The time since the server sent it, which is above zero if it comes from a response cache.
    func model(_ value: Value, age: Duration, isMemoryOnly: Bool) -> CachedModel<Value> {
        CachedModel(value, date: clock.date.addingTimeInterval(-(age / .seconds(1))), isMemoryOnly: isMemoryOnly)
    }

    func save(_ model: CachedModel<Value>) async {
        guard let cache, let key else { return }
        do { try await cache.save(model, for: key) } catch { problems?.add(error, "save") }
    }

    /// Deletes the cached value.
    func delete() async {
        guard let cache, let key else { return }
        do { try await cache.delete(key) } catch { problems?.add(error, "delete") }
    }
}

extension Fetch: EmissionSource {
    func begin() -> any EmissionRun<Value> { FetchRun(self) }

    var callbackQueue: DispatchQueue { requests.callbackQueue }
}
