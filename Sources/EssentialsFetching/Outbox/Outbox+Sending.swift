public import EssentialsHTTP
public import EssentialsRequests

/// Sends definitions whose response matters while the program runs, and that must not be lost when it ends.
///
/// ```swift
/// let user = try await outbox.send(Users.create(NewUser(name: "Ada")))            // User
/// ```
///
/// These functions add a definition like ``add(_:in:codecs:)``, and return when a server has accepted it, which can
/// take days. The definition determines the returned value. If the task is cancelled or the process ends, only the
/// waiting ends: the entry stays in the outbox and is sent later, and its response is not read. The functions do not
/// return while the outbox is paused, or while another partition or environment is the current one.
///
/// All of them throw the failures of ``add(_:in:codecs:)``, in which case nothing was added; the failure for which the
/// entry was given up, with the error model of the definition; `cancelled` if the task is cancelled or the entry is
/// dropped; `timeout` if the entry has become too old; `closed` if the outbox is closed.
extension Outbox {
    /// Sends a definition through the outbox, and returns its model.
    ///
    /// - Parameters:
    ///   - request: The definition.
    ///   - key: The ordering key; `nil` means one key for each origin.
    ///   - codecs: Encode the body and decode the response of a definition without codecs of its own. The default `nil`
    ///     means those of the outbox's data-request service.
    @discardableResult
    public func send<Request: TypedRequest>(
        _ request: Request, in key: OrderingKey? = nil, codecs: CodecRegistry? = nil
    ) async throws(RequestFailure) -> Request.Response where Request.Response: Decodable {
        let built: DataRequest = try request.build()
        let reader = ModelReader<Request.Response>(codecs: built.codecs ?? codecs ?? core.requests.codecs)
        let response = try await core.response(to: built, codecs, in: key) { reader.requesting($0) }
        return try await reader.model(from: response, to: built.method)
    }

    /// Sends a definition without a model through the outbox.
    public func send<Request: TypedRequest>(
        _ request: Request, in key: OrderingKey? = nil, codecs: CodecRegistry? = nil
    ) async throws(RequestFailure) where Request.Response == Void {
        _ = try await core.response(to: try request.build(), codecs, in: key) { $0 }
    }

    /// Sends a definition through the outbox, and returns the response with its body.
    @discardableResult
    public func send<Request: TypedRequest>(
        _ request: Request, in key: OrderingKey? = nil, codecs: CodecRegistry? = nil
    ) async throws(RequestFailure) -> DataResponse where Request.Response == DataResponse {
        try await core.response(to: try request.build(), codecs, in: key) { $0 }
    }
}

extension OutboxCore {
    /// Adds a request, and waits for the response of the server that accepts it.
    func response(
        to request: DataRequest, _ codecs: CodecRegistry?, in key: OrderingKey?,
        _ requesting: @escaping @Sendable (DataRequest) -> DataRequest
    ) async throws(RequestFailure) -> DataResponse {
        let codecs = request.codecs ?? codecs
        let reply = OutboxReply(to: request, codecs, requesting)
        let id = try await add(request, codecs, in: key, reply)
        defer { forget(id) }
        return try await reply.response()
    }
}
