public import EssentialsHTTP
public import EssentialsRequests

extension FetchingService {
    /// Adds a request to an outbox, and returns when it is on the disk, without waiting for its response.
    ///
    /// ```swift
    /// try await service.fireAndForget(DataRequest(.post, "views", parameters: ["id": 7]), through: outbox)
    /// ```
    ///
    /// The outbox sends it through its own data-request service, even after a restart, when this service may not exist.
    /// The body is encoded with the codecs of this service.
    ///
    /// - Parameters:
    ///   - request: A request, a builder or a definition.
    ///   - outbox: The outbox.
    ///   - key: The ordering key; `nil` means one key for each origin.
    /// - Returns: The identifier of the entry.
    /// - Throws: The failures of ``Outbox/add(_:in:codecs:)``.
    @discardableResult
    public func fireAndForget(
        _ request: some BuildableRequest, through outbox: Outbox, in key: OrderingKey? = nil
    ) async throws(RequestFailure) -> OutboxEntry.ID {
        try await outbox.add(request, in: key, codecs: outbox.codecs(of: requests))
    }

    /// Sends a definition through an outbox, and returns its model; see `Outbox.send`.
    ///
    /// ```swift
    /// let user = try await service.send(Users.create(NewUser(name: "Ada")), through: outbox)
    /// ```
    @discardableResult
    public func send<Request: TypedRequest>(
        _ request: Request, through outbox: Outbox, in key: OrderingKey? = nil
    ) async throws(RequestFailure) -> Request.Response where Request.Response: Decodable {
        try await outbox.send(request, in: key, codecs: outbox.codecs(of: requests))
    }

    /// Sends a definition without a model through an outbox; see `Outbox.send`.
    public func send<Request: TypedRequest>(
        _ request: Request, through outbox: Outbox, in key: OrderingKey? = nil
    ) async throws(RequestFailure) where Request.Response == Void {
        try await outbox.send(request, in: key, codecs: outbox.codecs(of: requests))
    }
}

extension Outbox {
    /// The codecs of a service; `nil` if the service sends the entries itself, because it then encodes the parameters.
    fileprivate func codecs(of requests: any DataRequestService) -> CodecRegistry? {
        // A value that is boxed separately counts as another service.
        (requests as AnyObject) === (core.requests as AnyObject) ? nil : requests.codecs
    }
}
