public import Dispatch
public import EssentialsHTTP

/// POST, PUT and PATCH with completion handlers.
extension DataRequestService {
    /// Posts a model and hands another to a completion handler; see ``post(_:body:query:encoding:as:)`` and
    /// ``send(_:completionQueue:progress:completion:)-(DataRequest,_,_,_)``.
    @discardableResult
    public func post<Model: Decodable & Sendable>(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = [:], encoding: MediaType? = nil,
        deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(.post, path, query: query, body: .model(body, as: encoding)), deserializeTo: type,
            completionQueue: completionQueue, completion: completion)
    }

    /// Posts a model and hands the response to a completion handler; see
    /// ``send(_:completionQueue:progress:completion:)-(DataRequest,_,_,_)``.
    @discardableResult
    public func post(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = [:], encoding: MediaType? = nil,
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(.post, path, query: query, body: .model(body, as: encoding)),
            completionQueue: completionQueue, completion: completion)
    }

    /// Posts named values and hands a model to a completion handler; see ``post(_:body:query:encoding:as:)``.
    @discardableResult
    public func post<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = [:], query: QueryItems = [:], encoding: MediaType? = nil,
        deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        var request = DataRequest(.post, path, parameters: parameters, query: query)
        request.parameterEncoding = encoding
        return send(request, deserializeTo: type, completionQueue: completionQueue, completion: completion)
    }

    /// Posts named values and hands the response to a completion handler; see ``post(_:body:query:encoding:as:)``.
    @discardableResult
    public func post(
        _ path: String, parameters: FormParameters = [:], query: QueryItems = [:], encoding: MediaType? = nil,
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        var request = DataRequest(.post, path, parameters: parameters, query: query)
        request.parameterEncoding = encoding
        return send(request, completionQueue: completionQueue, completion: completion)
    }

    /// Puts a model and hands another to a completion handler; see ``post(_:body:query:encoding:as:)`` and
    /// ``send(_:completionQueue:progress:completion:)-(DataRequest,_,_,_)``.
    @discardableResult
    public func put<Model: Decodable & Sendable>(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = [:], encoding: MediaType? = nil,
        deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(.put, path, query: query, body: .model(body, as: encoding)), deserializeTo: type,
            completionQueue: completionQueue, completion: completion)
    }

    /// Puts a model and hands the response to a completion handler; see
    /// ``send(_:completionQueue:progress:completion:)-(DataRequest,_,_,_)``.
    @discardableResult
    public func put(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = [:], encoding: MediaType? = nil,
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(.put, path, query: query, body: .model(body, as: encoding)),
            completionQueue: completionQueue, completion: completion)
    }

    /// Puts named values and hands a model to a completion handler; see ``post(_:body:query:encoding:as:)``.
    @discardableResult
    public func put<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = [:], query: QueryItems = [:], encoding: MediaType? = nil,
        deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        var request = DataRequest(.put, path, parameters: parameters, query: query)
        request.parameterEncoding = encoding
        return send(request, deserializeTo: type, completionQueue: completionQueue, completion: completion)
    }

    /// Puts named values and hands the response to a completion handler; see ``post(_:body:query:encoding:as:)``.
    @discardableResult
    public func put(
        _ path: String, parameters: FormParameters = [:], query: QueryItems = [:], encoding: MediaType? = nil,
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        var request = DataRequest(.put, path, parameters: parameters, query: query)
        request.parameterEncoding = encoding
        return send(request, completionQueue: completionQueue, completion: completion)
    }

    /// Patches with a model and hands another to a completion handler; see ``post(_:body:query:encoding:as:)`` and
    /// ``send(_:completionQueue:progress:completion:)-(DataRequest,_,_,_)``.
    @discardableResult
    public func patch<Model: Decodable & Sendable>(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = [:], encoding: MediaType? = nil,
        deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(.patch, path, query: query, body: .model(body, as: encoding)), deserializeTo: type,
            completionQueue: completionQueue, completion: completion)
    }

    /// Patches with a model and hands the response to a completion handler; see
    /// ``send(_:completionQueue:progress:completion:)-(DataRequest,_,_,_)``.
    @discardableResult
    public func patch(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = [:], encoding: MediaType? = nil,
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        send(
            DataRequest(.patch, path, query: query, body: .model(body, as: encoding)),
            completionQueue: completionQueue, completion: completion)
    }

    /// Patches with named values and hands a model to a completion handler; see ``post(_:body:query:encoding:as:)``.
    @discardableResult
    public func patch<Model: Decodable & Sendable>(
        _ path: String, parameters: FormParameters = [:], query: QueryItems = [:], encoding: MediaType? = nil,
        deserializeTo type: Model.Type, completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<Model, RequestFailure>) -> Void
    ) -> CancellableToken {
        var request = DataRequest(.patch, path, parameters: parameters, query: query)
        request.parameterEncoding = encoding
        return send(request, deserializeTo: type, completionQueue: completionQueue, completion: completion)
    }

    /// Patches with named values and hands the response to a completion handler; see ``post(_:body:query:encoding:as:)``.
    @discardableResult
    public func patch(
        _ path: String, parameters: FormParameters = [:], query: QueryItems = [:], encoding: MediaType? = nil,
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<DataResponse, RequestFailure>) -> Void
    ) -> CancellableToken {
        var request = DataRequest(.patch, path, parameters: parameters, query: query)
        request.parameterEncoding = encoding
        return send(request, completionQueue: completionQueue, completion: completion)
    }
}
