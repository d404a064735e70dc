import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials

/// The request that was sent last, after all changes.
final class SentRequest: Sendable {
    private let state = Mutex<DataRequest?>(nil)

    var request: DataRequest? { state.withLock { $0 } }

    func set(_ request: DataRequest) { state.withLock { $0 = request } }
}

/// Sends a request of a resource and reads its response, for loads and for all other requests.
struct ResourceExchange: Sendable {
    let service: HTTPResourceService
    let core: ResourceCore
    /// The environment and the partition in which the request was begun.
    let environment: AdoptedEnvironment
    /// The configuration of the resource for the method of the request.
    var configuration: EffectiveConfiguration
    /// Receives the request as it is sent; `nil` if it is not needed.
    var sent: SentRequest?

    /// The result of a request.
    enum Reply {
        case loaded(PipelineResult)
        case notModified(Confirmation)
    }

    /// A response that says that the content has not changed.
    struct Confirmation: Sendable {
        let headerFields: HTTPFields
        let origin: ResponseOrigin
        /// The content that it confirms, as named by the condition of the request; `nil` if there was no condition.
        let subject: KnownContent?

        /// The failure for a caller whose own condition the response answers. There is no content for that caller.
        var failure: RequestFailure {
            RequestFailure(
                .status, "The server answered 304 (Not Modified) to a condition of the caller's, which has no content.",
                remedy: "Use the content for which the condition was made, or send none.", phase: .receiving,
                response: FailedResponse(
                    head: HTTPResponse(status: .notModified, headerFields: headerFields), body: Data()))
        }
    }

    /// Sends a request with the mutations and decorators of its method, reads the whole body, and runs the pipeline.
    ///
    /// - Parameters:
    ///   - knownBody: The response cache's name for the body that the resource already has; `nil` to run the pipeline
    ///     in any case.
    ///   - caches: The caches for which entities are collected.
    func reply(
        to request: DataRequest, isDecorated: Bool = true, knownBody: UInt64? = nil, caches: [StageCache] = []
    ) async throws(RequestFailure) -> Reply {
        try service.checkOpen()
        var request = request
        var configuration = configuration(for: request.method)
        if !configuration.values.mutations.isEmpty {
            let method = request.method
            for mutation in configuration.values.mutations { try await Self.apply(mutation, to: &request) }
            // The method after the mutations selects the rest of the configuration.
            if request.method != method { configuration = self.configuration(for: request.method) }
        }
        if request.errorModel == nil { request.errorModel = configuration.values.errorModel }
        let decorators = isDecorated ? configuration.values.decorators[...] : []
        let began = configuration.freshness.isByServer ? service.time.now : nil
        let received: Received
        do throws(RequestFailure) {
            let response = try await send(request, decorators)
            let isPersonal = !caches.isEmpty && EntityCacheRules.isPersonal(response, to: request)
            received = try await read(
                response, to: request, configuration.values.maximumBody, knownBody, since: began, isPersonal: isPersonal
            )
        } catch {
            guard !configuration.values.pipeline.isEmpty, error.reason != .cancelled else { throw error }
            received = .failure(error)
        }
        return try await content(of: received, configuration, caches)
    }

    /// Reads a response that the response cache has received in the background, and runs the pipeline.
    func reply(
        with response: DataResponse, knownBody: UInt64?, caches: [StageCache]
    ) async throws(RequestFailure) -> Reply {
        try service.checkOpen()
        var request = DataRequest(.get, "")
        request.codecs = try core.addressAndDefinition.1?.request.get().codecs
        let received = try await read(
            response, to: request, configuration.values.maximumBody, knownBody, since: nil,
            isPersonal: EntityCacheRules.isPersonal(update: response))
        return try await content(of: received, configuration, caches)
    }

    /// The configuration for a method, which is usually that of the exchange.
    private func configuration(for method: HTTPRequest.Method) -> EffectiveConfiguration {
        method == configuration.method ? configuration : service.effective(for: core, method)
    }

    /// Sends a request, but only with the credentials of its operation; see `ForeignAccess`.
    func transmit(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
        let access = ForeignAccess(
            requests: service.requests, open: service.open, hosts: service.configuration.foreignHosts)
        return try await access.send(request.inScope(of: environment), to: core.address.place)
    }

    /// A response before the pipeline.
    private enum Received {
        case value(LoadedValue, ResponseOrigin)
        case failure(RequestFailure)
        case notModified(Confirmation)
    }

    /// Runs the pipeline.
    private func content(
        of received: Received, _ configuration: EffectiveConfiguration, _ caches: [StageCache]
    ) async throws(RequestFailure) -> Reply {
        let outcome: Result<LoadedValue, RequestFailure>
        var origin = ResponseOrigin()
        switch received {
        case .notModified(let confirmation): return .notModified(confirmation)
        case .failure(let failure): outcome = .failure(failure)
        case .value(let value, let found):
            guard !configuration.values.pipeline.isEmpty else {
                let outputs = caches.map { $0.output(of: value) }
                return .loaded(PipelineResult(value: value, outputs: outputs, origin: found))
            }
            (outcome, origin) = (.success(value), found)
        }
        var result = try await configuration.values.pipeline.run(outcome, service.codecs, caches: caches)
        result.origin = origin
        return .loaded(result)
    }

    /// Reads the whole body of a response, unless it is known.
    ///
    /// - Parameter began: The monotonic time at which the request was sent; `nil` if the delay is not needed.
    private func read(
        _ response: DataResponse, to request: DataRequest, _ maximumBody: Int, _ knownBody: UInt64?,
        since began: Duration?, isPersonal: Bool
    ) async throws(RequestFailure) -> Received {
        var origin = ResponseOrigin(
            isPersonal: isPersonal, storedUse: response.storedUse, identity: response.identity)
        let isKnown = response.identity.map { $0.body == knownBody } ?? false
        guard !isKnown, response.status != .notModified else {
            origin.delay = delay(of: response, since: began)
            // The sent fields include changes by decorators and interceptors. A response from a cache has no sent
            // fields.
            let sent = response.sentFields.flatMap { $0.isEmpty ? nil : $0 } ?? request.headerFields
            let subject = isKnown ? knownBody.map { .body($0) } : KnownContent(sent: sent)
            return .notModified(
                Confirmation(headerFields: response.headerFields, origin: origin, subject: subject))
        }
        let body = try await response.body.collect(upTo: maximumBody)
        origin.delay = delay(of: response, since: began)
        return .value(
            LoadedValue(
                body: body, contentType: response.headerFields[.contentType], head: response.head,
                method: request.method, url: response.url, codecs: request.codecs), origin)
    }

    /// The time since the request was sent. Pauses before the last attempt do not make a response older.
    private func delay(of response: DataResponse, since began: Duration?) -> Duration {
        // The age that a cache has written into a response that it has validated includes the time of the validation.
        guard let began, response.cache?.outcome != .validated else { return .zero }
        let passed = service.time.now - began
        return response.metrics.finished.map { min($0, passed) } ?? passed
    }

    /// Sends a request through decorators, beginning with the last one.
    private func send(
        _ request: DataRequest, _ decorators: ArraySlice<ResourceDecorator>
    ) async throws(RequestFailure) -> DataResponse {
        guard let decorator = decorators.last else {
            try service.checkPartition(of: environment)
            sent?.set(request)
            return try await transmit(request)
        }
        let call = DecoratedRequest(resource: AnyResource(service: service, core: core), request: request)
        do {
            return try await decorator(call) { request throws(RequestFailure) in
                try await send(request, decorators.dropLast())
            }
        } catch {
            throw RequestFailure(thrown: error, .invalidRequest, "A decorator has ended the request.")
        }
    }

    /// Sends a request independently of the loads, and reads content from its response.
    @concurrent
    func response<Content: Sendable>(
        to request: DataRequest, _ options: RequestOptions, as type: Content.Type
    ) async throws(RequestFailure) -> ResourceResponse<Content> {
        var request = request
        if let change = options.change { try await Self.apply(change, to: &request) }
        switch try await reply(to: request, isDecorated: !options.isRepeated) {
        case .loaded(let result):
            let value = result.value
            guard let content = value.content(of: type, service.codecs) else { throw Self.noContent(type) }
            return ResourceResponse(
                try content.get(), status: value.head.status, headerFields: value.head.headerFields)
        case .notModified(let confirmation): throw confirmation.failure
        }
    }

    /// Lets foreign code change a request.
    ///
    /// - Throws: A `RequestFailure` of the code as it is, a cancellation as `cancelled`, and other errors as
    ///   `invalidRequest`.
    static func apply(
        _ change: @Sendable (inout DataRequest) async throws -> Void, to request: inout DataRequest
    ) async throws(RequestFailure) {
        do {
            try await change(&request)
        } catch {
            throw RequestFailure(thrown: error, .invalidRequest, "A change of the request has failed.")
        }
    }

    private static func noContent<Content>(_ type: Content.Type) -> RequestFailure {
        RequestFailure(
            .decoding, "The response is not a \(type).", remedy: "Read it as the type that it has.")
    }
}

/// The requests of a resource.
extension ResourceExchange {
    /// Returns the request of a load, with the base and path of the resource.
    ///
    /// Header fields have this order of precedence: the variant's, the definition's, the configuration's.
    ///
    /// - Parameter condition: The header field that makes the request conditional; `nil` if it is unconditional. A
    ///   condition of the configuration takes precedence.
    /// - Throws: `invalidRequest` if the resource has no URL or its definition is invalid.
    func request(
        _ options: LoadOptions, _ condition: (name: HTTPField.Name, value: String)?
    ) throws(RequestFailure) -> DataRequest {
        if var request = options.request {
            if !options.joins, request.settings.joins == nil { request.settings.joins = false }
            if request.isConditional { request.expectedStatus = request.expectedStatus.union(Self.unchanged) }
            return request.requesting(core.responseKind)
        }
        var request = try request(.get)
        if let cacheControl = options.cacheControl { request.headerFields[.cacheControl] = cacheControl }
        if !options.joins { request.settings.joins = false }
        if let condition, !request.isConditional { request.headerFields[condition.name] = condition.value }
        if request.isConditional { request.expectedStatus = request.expectedStatus.union(Self.unchanged) }
        return request.requesting(core.responseKind)
    }

    /// Returns a request that is not a load.
    func request(_ options: RequestOptions) throws(RequestFailure) -> DataRequest {
        guard !options.isRepeated || options.body.isReplayable else {
            throw RequestFailure(.notReplayable, "The body of the repeated request cannot be sent twice.")
        }
        var request = try request(options.method)
        if let cacheControl = options.cacheControl {
            // A load by hand goes to the server, even if it is repeated.
            request.headerFields[.cacheControl] = cacheControl
            request.settings.joins = false
        }
        for name in Set(options.headerFields.map(\.name)) {
            request.headerFields[fields: name] = options.headerFields[fields: name]
        }
        request.body = options.body
        return request
    }

    /// A request with the URL of a resource, and with the header fields that all of its requests have.
    private func request(_ method: HTTPRequest.Method) throws(RequestFailure) -> DataRequest {
        let (address, known) = core.addressAndDefinition
        let definition = try known?.request.get()
        let url = try service.table.base.requestURL(of: address)
        var request = DataRequest(method, "")
        if let definition, method == .get {
            request = definition
        } else {
            request.codecs = definition?.codecs
            request.errorModel = definition?.errorModel
            request.urlTemplate = definition?.urlTemplate
        }
        if address.place == .below {
            request = request.pinned(to: environment.snapshot, at: url)
        } else {
            request.base = RequestBase(url)
            request.path = ""
        }
        request.setFields(configuration(for: method).values.headerFields)
        for field in core.variant.headerFields { request.headerFields[field.name] = field.value }
        return request
    }

    private static var unchanged: StatusExpectation { 304 }
}

/// The content that a load already has, so that an unchanged body is not read again. A response without a body names
/// the content that it confirms in the same form.
enum KnownContent: Sendable {
    /// A validator of the content, which is sent as a conditional header field.
    case validator(name: HTTPField.Name, value: String)
    /// The response cache's name for the body. The cache validates its stored responses by itself.
    case body(UInt64)

    /// The condition of a request that was sent; `nil` if it has none. An entity tag takes precedence over a date
    /// ([RFC 9110, 13.1.3](https://www.rfc-editor.org/rfc/rfc9110#section-13.1.3)).
    init?(sent fields: HTTPFields) {
        guard
            let name = [HTTPField.Name.ifNoneMatch, .ifModifiedSince].first(where: { fields[$0] != nil }),
            let value = fields[name]
        else { return nil }
        self = .validator(name: name, value: value)
    }

    /// The header field that makes the request conditional.
    var condition: (name: HTTPField.Name, value: String)? {
        if case .validator(let name, let value) = self { (name, value) } else { nil }
    }

    /// The body that need not be read again.
    var body: UInt64? {
        if case .body(let body) = self { body } else { nil }
    }
}

/// The response cache's name for the body of a resource's content. This is an object, so that resources without one
/// take little space.
final class KnownBody: Sendable {
    let body: UInt64
    /// The version of the content that was read from the body. Later content has another source.
    let contentVersion: UInt64

    init(body: UInt64, contentVersion: UInt64) { (self.body, self.contentVersion) = (body, contentVersion) }
}

extension ResourceExchange.Confirmation {
    /// Whether the response answers the condition of the resource or none, rather than a condition of the caller.
    func answers(_ known: KnownContent) -> Bool {
        guard let sent = subject?.condition else { return true }
        return known.condition.map { $0 == sent } ?? false
    }
}

extension DataRequest {
    /// Whether the caller of the request has made it conditional.
    var isConditional: Bool { headerFields[.ifNoneMatch] != nil || headerFields[.ifModifiedSince] != nil }

    /// Returns the request with the credentials of an operation. If they were cleared or replaced, it fails as
    /// `authorization`.
    func inScope(of environment: AdoptedEnvironment) -> DataRequest {
        guard scope == nil, let present = environment.scope else { return self }
        var request = self
        request.scope = present
        return request
    }

    /// Adds header fields whose names the request does not have.
    mutating func setFields(_ fields: HTTPFields) {
        guard !fields.isEmpty else { return }
        let own = Set(headerFields.map(\.name))
        for field in fields where !own.contains(field.name) { headerFields.append(field) }
    }
}

/// The options of a request that is sent independently of the loads.
struct RequestOptions: Sendable {
    var method: HTTPRequest.Method
    var headerFields: HTTPFields = [:]
    var body = DataRequest.Body.none
    /// The value of `Cache-Control`; `nil` sends none.
    var cacheControl: String?
    /// The change that the caller makes to the request.
    var change: (@Sendable (inout DataRequest) async throws -> Void)?
    /// Whether it repeats another request. The decorators of the configuration are then not applied again.
    var isRepeated = false
}

extension HTTPResourceService {
    /// The response cache through which a resource is loaded; `nil` if there is none. Resources outside the base URL
    /// are loaded through another service.
    func responseCache(of core: ResourceCore) -> (any ResponseCaching)? {
        guard let responseCache, core.address.place == .below else { return nil }
        return responseCache
    }
}
