public import EssentialsHTTP
public import EssentialsRequests
import FoundationEssentials

/// Functions that write a resource, and their effects on its state; see <doc:WritingOptimistically>.
///
/// ```swift
/// try await shop.cart.patch(Add(item), optimistically: { $0.items.append(item) }, invalidating: "/orders/**")
/// ```
///
/// All of these functions send a request to the URL of the resource and return after the state has changed. Writes of
/// one resource are sent one after another, in the order of the calls; see ``WriteOptions/concurrent``. If a task is
/// cancelled while it waits for its turn, it sends nothing. If it is cancelled later, the server may have carried out
/// the write. A write that has not been sent yet when the credentials are cleared or replaced fails as `authorization`.
///
/// A change that is passed as `optimistically` is shown at once, as a layer on top of the server's content, until the
/// write has ended. It must be pure, because it is called again, outside all locks, whenever the content below it
/// changes. It changes content of this handle's type. Handles with another content type show the server's content.
///
/// If the write fails or is cancelled, only its own change is removed, and the observers receive
/// ``ResourceEvent/undone(_:)``. The failure is thrown, and ``ResourceState/failure`` stays as it is. If the server
/// reports success but the body of its response cannot be read, that failure is thrown. The content is then the body
/// that PUT has sent, or otherwise the optimistic change, and it is invalid.
/// <doc:FreshContent#Responses-that-cannot-be-read> describes which views have to read a body.
///
/// A resource outside the base URL accepts no writes, unless its host is listed with credentials.
///
/// All functions throw the failures of `DataRequestService.send`. They send nothing and throw `resources` if the
/// resource already has 64 optimistic changes, `queueFull` if 256 writes wait, and `invalidRequest` if a related
/// pattern is malformed.
extension Resource {
    // MARK: POST

    /// Sends a model with POST. After a success the resource is invalid, because its new content is unknown.
    ///
    /// - Parameters:
    ///   - model: The body, encoded as JSON unless a header field says otherwise.
    ///   - options: How the write is sent.
    ///   - headerFields: Header fields, which take precedence over those of the configuration.
    ///   - change: The change that is shown until the write has ended.
    ///   - related: Other resources that a success makes outdated.
    /// - Returns: The response. Its ``WriteOutcome/location`` is the created resource.
    @discardableResult
    public func post<Model: Encodable & Sendable>(
        _ model: Model, _ options: WriteOptions = [], headerFields: HTTPFields = [:],
        optimistically change: (@Sendable (inout Content) -> Void)? = nil, invalidating related: RelatedResources = []
    ) async throws(RequestFailure) -> WriteOutcome {
        try await write(.post, .model(model), nil, options, headerFields, change, related)
    }

    /// Sends a body with POST; see ``post(_:_:headerFields:optimistically:invalidating:)``.
    @discardableResult
    public func post(
        body: DataRequest.Body = .none, _ options: WriteOptions = [], headerFields: HTTPFields = [:],
        optimistically change: (@Sendable (inout Content) -> Void)? = nil, invalidating related: RelatedResources = []
    ) async throws(RequestFailure) -> WriteOutcome {
        try await write(.post, body, nil, options, headerFields, change, related)
    }

    // MARK: PUT

    /// Replaces the content of the resource with a model.
    ///
    /// After a success the content is the body of the response if that is the new representation: if its
    /// `Content-Location` is the URL of the resource
    /// ([RFC 9110, 8.7](https://www.rfc-editor.org/rfc/rfc9110#section-8.7)), or if it was requested; see
    /// ``WriteOptions/returningContent``. Otherwise the content is the model. It is fresh if the response has an entity
    /// tag or a date, because this means that the server has stored it unchanged
    /// ([RFC 9110, 9.3.4](https://www.rfc-editor.org/rfc/rfc9110#section-9.3.4)). Otherwise it is invalid. If a view
    /// can read the current content but not the sent content, the current content stays and is invalid.
    ///
    /// For the parameters see ``post(_:_:headerFields:optimistically:invalidating:)``.
    @discardableResult
    public func put<Model: Encodable & Sendable>(
        _ model: Model, _ options: WriteOptions = [], headerFields: HTTPFields = [:],
        optimistically change: (@Sendable (inout Content) -> Void)? = nil, invalidating related: RelatedResources = []
    ) async throws(RequestFailure) -> WriteOutcome {
        try await write(.put, .model(model), model, options, headerFields, change, related)
    }

    /// Replaces the content of the resource with a body; see ``put(_:_:headerFields:optimistically:invalidating:)``. A
    /// body that is a stream or a file does not become the content.
    @discardableResult
    public func put(
        body: DataRequest.Body, _ options: WriteOptions = [], headerFields: HTTPFields = [:],
        optimistically change: (@Sendable (inout Content) -> Void)? = nil, invalidating related: RelatedResources = []
    ) async throws(RequestFailure) -> WriteOutcome {
        try await write(.put, body, nil, options, headerFields, change, related)
    }

    // MARK: PATCH

    /// Changes a part of the content.
    ///
    /// After a success the content is the body of the response, as for PUT. Otherwise the optimistic change becomes
    /// part of the content, and the resource is invalid.
    ///
    /// For the parameters see ``post(_:_:headerFields:optimistically:invalidating:)``.
    @discardableResult
    public func patch<Model: Encodable & Sendable>(
        _ model: Model, _ options: WriteOptions = [], headerFields: HTTPFields = [:],
        optimistically change: (@Sendable (inout Content) -> Void)? = nil, invalidating related: RelatedResources = []
    ) async throws(RequestFailure) -> WriteOutcome {
        try await write(.patch, .model(model), nil, options, headerFields, change, related)
    }

    /// Changes a part of the content with a body; see ``patch(_:_:headerFields:optimistically:invalidating:)``.
    @discardableResult
    public func patch(
        body: DataRequest.Body, _ options: WriteOptions = [], headerFields: HTTPFields = [:],
        optimistically change: (@Sendable (inout Content) -> Void)? = nil, invalidating related: RelatedResources = []
    ) async throws(RequestFailure) -> WriteOutcome {
        try await write(.patch, body, nil, options, headerFields, change, related)
    }

    // MARK: DELETE

    /// Deletes the resource. After a success its content is removed, with the event `wiped(.deleted)`, and all loads
    /// are cancelled. The statuses 404 and 410 count as successes too, because the resource does not exist any more.
    ///
    /// For the parameters see ``post(_:_:headerFields:optimistically:invalidating:)``.
    @discardableResult
    public func delete(
        body: DataRequest.Body = .none, _ options: WriteOptions = [], headerFields: HTTPFields = [:],
        optimistically change: (@Sendable (inout Content) -> Void)? = nil, invalidating related: RelatedResources = []
    ) async throws(RequestFailure) -> WriteOutcome {
        try await write(.delete, body, nil, options, headerFields, change, related)
    }

    // MARK: Sending

    private func write(
        _ method: HTTPRequest.Method, _ body: DataRequest.Body, _ model: (any Sendable)?, _ options: WriteOptions,
        _ headerFields: HTTPFields, _ change: (@Sendable (inout Content) -> Void)?, _ related: RelatedResources
    ) async throws(RequestFailure) -> WriteOutcome {
        let environment = prepare()
        let core = core
        var exchange = ResourceExchange(
            service: service, core: core, environment: environment,
            configuration: service.effective(for: core, method))
        let request = try exchange.request(.init(method: method, headerFields: headerFields, body: body))
            .requesting(core.responseKind)
        var write = ResourceWrite(request, of: core, service, in: environment, options, related)
        write.model = model
        exchange.sent = write.sent
        let value = try await write.perform(change.map { OptimisticLayer($0) }) { response in
            LoadedValue(
                body: response.body, contentType: response.head.headerFields[.contentType], head: response.head,
                method: method, codecs: request.codecs)
        } exchange: { [exchange] request throws(RequestFailure) in
            // The write may have waited for its turn, so the configuration is read again.
            var exchange = exchange
            exchange.configuration = exchange.service.effective(for: exchange.core, method)
            let value = try await exchange.value(of: request)
            return ResourceWrite.Received(reply: value, value: value)
        }
        let location = relative(value.head.headerFields[.location], as: Never.self)
        return WriteOutcome(value, location: location?.any, service.codecs)
    }
}

extension ResourceExchange {
    /// Sends a request without a condition. A 304 response is therefore a failure.
    @concurrent
    fileprivate func value(of request: DataRequest) async throws(RequestFailure) -> LoadedValue {
        switch try await reply(to: request) {
        case .loaded(let result): return result.value
        case .notModified:
            throw RequestFailure(
                .protocolViolation, "The response to a write has the status 304.",
                remedy: "Correct the server, or the cache in front of it.")
        }
    }
}
