public import Dispatch
public import EssentialsHTTP

/// Sends requests below an environment's base URL: what application code asks the locator for.
///
/// A test double implements ``send(_:)`` alone; everything else builds on it.
///
/// ```swift
/// let requests = try locator.resolve((any DataRequestService).self)
/// let users: [User] = try await requests.get("users", parameters: ["role": "admin"])
/// let created: User = try await requests.post("users", body: NewUser(name: "Ada"))
///
/// let token = requests.get("users/1", deserializeTo: User.self, completionQueue: .main) { result in … }
/// token.cancel()
/// ```
public protocol DataRequestService: Sendable {
    /// Sends a request and checks the status of its response.
    ///
    /// - Throws: `status` for one that the request does not expect, and whatever kept the exchange from being whole.
    func send(_ request: DataRequest) async throws(RequestFailure) -> TransportResponse

    /// Where completion handlers run that name no queue. Never the main queue by itself.
    var callbackQueue: DispatchQueue { get }
}

extension DataRequestService {
    /// A queue that all services without their own share.
    public var callbackQueue: DispatchQueue { sharedCallbackQueue }

    /// Gets a model. The body is decoded in the calling task.
    ///
    /// - Throws: as ``send(_:)``; `decoding` when the body does not fit, `emptyBody` when there is none.
    public func get<Model: Decodable>(
        _ path: String, parameters: Parameters = [:], as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(of: accepting(DataRequest(.get, path, parameters: parameters)))
    }

    /// Posts a model as JSON and reads another from the answer. Nothing is sent twice.
    ///
    /// - Throws: as ``get(_:parameters:as:)``; `encoding` when the body has no JSON form.
    public func post<Model: Decodable>(
        _ path: String, body: some Encodable, as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        try await model(of: accepting(DataRequest(.post, path, json: body)))
    }

    /// Posts a model as JSON; the answer's body is not looked at.
    ///
    /// - Throws: as ``send(_:)``; `encoding` when the body has no JSON form.
    public func post(_ path: String, body: some Encodable) async throws(RequestFailure) {
        _ = try await send(DataRequest(.post, path, json: body))
    }

    /// Sends a request and reads a model from the answer; of a streamed body at most 64 MiB.
    ///
    /// - Throws: as ``get(_:parameters:as:)``.
    public func model<Model: Decodable>(
        of request: DataRequest, as type: Model.Type = Model.self
    ) async throws(RequestFailure) -> Model {
        var response = try await send(request)
        // A streamed body is read whole: a model needs all of it.
        if response.body.data == nil { response.body = ResponseBody(try await response.body.collect(upTo: 64 << 20)) }
        return try JSONCoding.decode(type, from: response, host: nil)
    }

    private func accepting(_ request: DataRequest) -> DataRequest {
        var request = request
        if request.headerFields[.accept] == nil { request.headerFields[.accept] = "application/json" }
        return request
    }
}

private let sharedCallbackQueue = DispatchQueue(label: "essentials.callbacks")
