import EssentialsHTTP
public import EssentialsRequests

/// Definitions that are sent through the resource.
///
/// ```swift
/// let profile = service.resource(Users.get(id: 7))
/// try await profile.send(Users.rename(id: 7, to: "Ada"), optimistically: { $0.name = "Ada" })
/// ```
///
/// A definition goes through the data-request service of the resource's service, without the configuration of the
/// resource. A definition with a safe method (RFC 9110, 9.2.1) does not change the state. Any other definition is a
/// write of the resource. If its URL is that of the resource, it changes the state like
/// ``put(_:_:headerFields:optimistically:invalidating:)``, ``patch(_:_:headerFields:optimistically:invalidating:)``,
/// ``post(_:_:headerFields:optimistically:invalidating:)`` or
/// ``delete(body:_:headerFields:optimistically:invalidating:)``. Otherwise it changes the state like POST. The statuses
/// 404 and 410 after DELETE remove the content, and are thrown unless the definition expects them.
extension Resource {
    /// Sends a definition and reads its model.
    ///
    /// - Parameters:
    ///   - request: The definition.
    ///   - options: How the write is sent. A safe request ignores them.
    ///   - change: The change that is shown until the write has ended.
    ///   - related: Other resources that a success makes outdated.
    /// - Throws: The failures of `DataRequestService.send` and of the other writes, and `closed` after the service was
    ///   closed.
    @discardableResult
    public func send<Request: TypedRequest>(
        _ request: Request, _ options: WriteOptions = [],
        optimistically change: (@Sendable (inout Content) -> Void)? = nil, invalidating related: RelatedResources = []
    ) async throws(RequestFailure) -> Request.Response where Request.Response: Decodable {
        let built: DataRequest = try request.build()
        let reader = ModelReader(Request.Response.self, codecs: built.codecs ?? service.codecs)
        let response = try await respond(
            to: request, reader.requesting(built), options, change.map { OptimisticLayer($0) }, related)
        return try await reader.model(from: response, to: built.method)
    }

    /// Sends a definition whose response has no content, such as 204; see ``send(_:_:optimistically:invalidating:)``.
    public func send<Request: TypedRequest>(
        _ request: Request, _ options: WriteOptions = [],
        optimistically change: (@Sendable (inout Content) -> Void)? = nil, invalidating related: RelatedResources = []
    ) async throws(RequestFailure) where Request.Response == Void {
        _ = try await respond(
            to: request, try request.build(), options, change.map { OptimisticLayer($0) }, related)
    }

    /// Sends a definition and returns the response with its body; see ``send(_:_:optimistically:invalidating:)``.
    @discardableResult
    public func send<Request: TypedRequest>(
        _ request: Request, _ options: WriteOptions = [],
        optimistically change: (@Sendable (inout Content) -> Void)? = nil, invalidating related: RelatedResources = []
    ) async throws(RequestFailure) -> DataResponse where Request.Response == DataResponse {
        try await respond(to: request, try request.build(), options, change.map { OptimisticLayer($0) }, related)
    }

    /// Sends a definition and returns the body as a stream; see ``send(_:_:optimistically:invalidating:)``. The state
    /// changes when the head of the response has arrived.
    public func send<Request: TypedRequest>(
        _ request: Request, _ options: WriteOptions = [],
        optimistically change: (@Sendable (inout Content) -> Void)? = nil, invalidating related: RelatedResources = []
    ) async throws(RequestFailure) -> ResponseBody where Request.Response == ResponseBody {
        var built: DataRequest = try request.build().requesting(.bytes)
        built.options.delivery = .streamed
        return try await respond(to: request, built, options, change.map { OptimisticLayer($0) }, related).body
    }

    /// Sends a definition, as a write unless its method is safe.
    private func respond(
        to definition: some TypedRequest, _ request: DataRequest, _ options: WriteOptions, _ layer: OptimisticLayer?,
        _ related: RelatedResources
    ) async throws(RequestFailure) -> DataResponse {
        try service.checkOpen()
        switch request.method {
        case .get, .head, .options, .trace: return try await service.requests.send(request)
        default: break
        }
        let environment = prepare()
        let base = service.table.base
        let target = try definition.definition.url(under: try RequestURL(base.prefix + base.suffix))
        let address = base.url(whole: target.description)
        let pinned =
            request.base.isEnvironment && address.place == .below
            ? request.pinned(to: environment.snapshot, at: target) : request
        var write = ResourceWrite(pinned, of: core, service, in: environment, options, related)
        write.isOfResource = address == core.address
        write.isReadByCaller = true
        return try await write.perform(layer) { [write] request throws(RequestFailure) in
            try service.checkPartition(of: environment)
            write.sent?.set(request)
            let response = try await service.requests.send(request.inScope(of: environment))
            let value = LoadedValue(
                body: response.body.data, contentType: response.headerFields[.contentType], head: response.head,
                method: request.method, url: response.url, codecs: request.codecs)
            return ResourceWrite.Received(reply: response, value: value)
        }
    }
}
