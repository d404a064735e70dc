import Dispatch
import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials

/// The result of the server for a fetch.
enum ServedModel: Sendable {
    /// A value, and how a cache may keep it.
    case value(FetchEmission, ModelStorage)
    /// The `nil` of an optional model, because the server has no model.
    case nothing(FetchEmission)
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

/// How a cache may keep a model.
struct ModelStorage: Sendable {
    /// Whether it may be kept only in memory.
    var isMemoryOnly = false
    /// Whether it was received with credentials and without an account, so that it is removed with the credentials.
    var isPersonal = false
}

/// A fetch as a run sees it, without the type of the model.
protocol FetchWork: AnyObject, Sendable {
    var source: FetchSource { get }
    var options: FetchOptions { get }
    /// Whether there is a cache, and a key for it.
    var hasCache: Bool { get }

    /// Begins the operation of an iteration.
    func beginOperation() -> FetchOperation
    /// Sends the request and reads its response.
    ///
    /// - Parameter isShared: Whether the value is shared with others, so that its account matters.
    func serve(in operation: FetchOperation, isShared: Bool) async -> ServedModel
    /// The cached model; `nil` if there is none or the cache fails.
    func load(in operation: FetchOperation) async -> FetchEmission?
    /// Stores a model that the server has sent.
    func save(_ emission: FetchEmission, _ storage: ModelStorage, in operation: FetchOperation) async
    /// Deletes the cached model.
    func delete(in operation: FetchOperation) async
}

/// A fetch as it was described. Each iteration performs it once, in the environment and for the account of that moment.
final class Fetch<Value: Codable & Sendable>: FetchWork {
    let source: FetchSource
    let options: FetchOptions
    let hasCache: Bool
    private let clock: RequestClock
    private let begins: @Sendable () -> FetchOperation
    private let key: FetchKeySource?
    private let requests: any DataRequestService
    private let cache: (any AsyncCache)?
    private let problems: CacheProblemLog?
    private let request: DataRequest
    /// Why the request could not be built; `nil` if it could.
    private let refusal: RequestFailure?
    private let reader: NestedReader<Value>
    private let storesSensitiveResponses: Bool

    init(
        _ request: consuming DataRequest, _ refusal: RequestFailure?, below nested: NestedPath?, key: FetchKeySource?,
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
        let hasCache = cache != nil && key != nil
        self.hasCache = hasCache
        begins = { service.beginFetch(hasKeys: hasCache) }
        clock = defaults.clock
        problems = defaults.cacheProblems
        storesSensitiveResponses = defaults.storesSensitiveResponses
    }

    func beginOperation() -> FetchOperation { begins() }

    // MARK: The server

    func serve(in operation: FetchOperation, isShared: Bool) async -> ServedModel {
        do throws(RequestFailure) {
            if let refusal { throw refusal }
            let response = try await requests.send(request.bound(to: operation.context))
            guard response.status != .notModified else { throw notModified(response) }
            let model = try await reader.model(from: response, to: request.method)
            if isOptional, (model as? any AnyOptional)?.isNothing == true { return nothing(model, in: operation) }
            let age = response.storedUse?.age ?? .zero
            var emission = FetchEmission(model: ModelBox(model), isCached: false, age: age, operation: operation)
            let storage = storage(of: response, for: &emission, in: operation, isShared: isShared)
            return .value(emission, storage)
        } catch {
            return served(error, in: operation)
        }
    }

    private var isOptional: Bool { Value.self is any AnyOptional.Type }

    private func served(_ failure: RequestFailure, in operation: FetchOperation) -> ServedModel {
        let isGone = failure.reason == .status && [404, 410].contains(failure.status?.code)
        guard isGone || failure.reason == .emptyBody else { return .failure(failure) }
        if let nothing = (Value.self as? any AnyOptional.Type)?.nothing as? Value {
            return self.nothing(nothing, in: operation)
        }
        return isGone ? .gone(failure) : .empty
    }

    private func nothing(_ model: Value, in operation: FetchOperation) -> ServedModel {
        .nothing(FetchEmission(model: ModelBox(model), isCached: false, age: .zero, operation: operation))
    }

    /// A 304 response confirms a model without containing it, so the response has no value.
    private func notModified(_ response: DataResponse) -> RequestFailure {
        RequestFailure(
            .status, "The server answered 304, which has no model.",
            remedy: "Send no condition of your own; a response cache below the service sends one.",
            phase: .receiving, response: FailedResponse(head: response.head, body: Data()))
    }

    // MARK: The cache

    /// How a cache may keep the model of a response. It also determines whether the model may belong to one account.
    private func storage(
        of response: DataResponse, for emission: inout FetchEmission, in operation: FetchOperation, isShared: Bool
    ) -> ModelStorage {
        let partition = hasCache && options.caches ? key?.key(in: operation).partition : nil
        var storage = ModelStorage()
        if partition != nil {
            storage.isMemoryOnly = !storesSensitiveResponses && EntityCacheRules.forbidsStoring(response.headerFields)
        }
        // The fields are not examined for values that are neither shared nor stored for all accounts.
        guard isShared || partition?.isShared == true else { return storage }
        let isPersonal = EntityCacheRules.isPersonalModel(
            response, to: request, hasIdentity: operation.hasClientIdentity)
        emission.mayBePersonal = isPersonal || operation.hasCredentials
        guard partition?.isShared == true else { return storage }
        storage.isMemoryOnly = storage.isMemoryOnly || isPersonal && !storesSensitiveResponses
        storage.isPersonal = isPersonal || request.base.isEnvironment && operation.hasCredentials
        return storage
    }

    /// The key of an operation; `nil` if it may not use the stores of its account.
    private func key(in operation: FetchOperation) -> FetchKey? {
        guard let key = key?.key(in: operation), operation.permits(key.partition) else { return nil }
        // The base of the request may be pinned to another environment than that of the key.
        if let environment = operation.context?.environment, !request.base.permits(environment.snapshot) { return nil }
        return key
    }

    func load(in operation: FetchOperation) async -> FetchEmission? {
        guard let cache, let key = key(in: operation) else { return nil }
        do {
            guard let cached = try await cache.load(ModelKey<Value>(key)) else { return nil }
            // The credentials may have been replaced while the cache was read, or since the model was stored.
            guard operation.permits(key.partition), cached.provenance?.isHidden != true else { return nil }
            return FetchEmission(
                model: ModelBox(cached.value), isCached: true, age: cached.age(at: clock.date), operation: operation)
        } catch {
            problems?.add(error, "load")
            return nil
        }
    }

    func save(_ emission: FetchEmission, _ storage: ModelStorage, in operation: FetchOperation) async {
        guard let cache, let key = key(in: operation), let box = emission.model as? ModelBox<Value> else { return }
        let name = TypeName(Value.self)
        if !name.isLasting { problems?.add(nameless: name.text) }
        // The age is above zero for a response from a response cache.
        let date = clock.date.addingTimeInterval(-((emission.age ?? .zero) / .seconds(1)))
        var cached = CachedModel(box.value, date: date, isMemoryOnly: storage.isMemoryOnly || !name.isLasting)
        cached.provenance = operation.provenance(isPersonal: storage.isPersonal)
        do { try await cache.save(cached, for: ModelKey(key)) } catch { problems?.add(error, "save") }
    }

    func delete(in operation: FetchOperation) async {
        guard let cache, let key = key(in: operation) else { return }
        do { try await cache.delete(ModelKey<Value>(key)) } catch { problems?.add(error, "delete") }
    }
}

/// The source of the key of a fetch. The key is made when an operation begins.
enum FetchKeySource: Sendable {
    /// A key of the caller.
    case given(FetchKey)
    /// The request.
    case request(FetchKeyRules.Parts)

    func key(in operation: FetchOperation) -> FetchKey {
        switch self {
        case .given(let key): operation.key(key)
        case .request(let parts): operation.key(parts)
        }
    }
}

extension Fetch: EmissionSource {
    func begin() -> any EmissionRun { FetchRun(self, isShared: false) }

    func beginShared() -> any EmissionRun { FetchRun(self, isShared: true) }

    func beginReading() -> FetchOperation? { beginOperation() }

    var callbackQueue: DispatchQueue { requests.callbackQueue }
}
