public import EssentialsHTTP

/// Requests by method.
///
/// ```swift
/// let users = try await requests.model(of: .get("users", parameters: ["role": "admin"]), as: [User].self)
/// try await requests.download(.get("films/1"), to: "/srv/films/1.mp4", options: options, progress: nil)
/// ```
extension BuildableRequest where Self == DataRequest {
    /// A GET request (RFC 9110, 9.3.1), whose parameters are part of the query.
    public static func get(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) -> DataRequest {
        DataRequest(
            .get, path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
            options: options)
    }

    /// A DELETE request (RFC 9110, 9.3.5), whose parameters are part of the query.
    public static func delete(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) -> DataRequest {
        DataRequest(
            .delete, path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
            options: options)
    }

    /// A HEAD request (RFC 9110, 9.3.2), whose parameters are part of the query.
    public static func head(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) -> DataRequest {
        DataRequest(
            .head, path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
            options: options)
    }

    /// An OPTIONS request (RFC 9110, 9.3.7), whose parameters are part of the query.
    public static func options(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) -> DataRequest {
        DataRequest(
            .options, path, parameters: parameters, query: query, headerFields: headerFields, expecting: expecting,
            options: options)
    }

    /// A POST request (RFC 9110, 9.3.3) with a body of any kind: a JSON literal, named values, bytes, text, a file, a stream, parts, or none.
    public static func post(
        _ path: String, body: DataRequest.Body = .none, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) -> DataRequest {
        DataRequest(
            .post, path, query: query, headerFields: headerFields, body: body, expecting: expecting, options: options)
    }

    /// A POST request (RFC 9110, 9.3.3) with a model as its body; see ``DataRequest/Body/model(_:as:)``.
    public static func post(
        _ path: String, body model: some Encodable & Sendable, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) -> DataRequest {
        .post(
            path, body: .model(model), query: query, headerFields: headerFields, expecting: expecting,
            options: options)
    }

    /// A PUT request (RFC 9110, 9.3.4) with a body of any kind: a JSON literal, named values, bytes, text, a file, a stream, parts, or none.
    public static func put(
        _ path: String, body: DataRequest.Body = .none, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) -> DataRequest {
        DataRequest(
            .put, path, query: query, headerFields: headerFields, body: body, expecting: expecting, options: options)
    }

    /// A PUT request (RFC 9110, 9.3.4) with a model as its body; see ``DataRequest/Body/model(_:as:)``.
    public static func put(
        _ path: String, body model: some Encodable & Sendable, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) -> DataRequest {
        .put(
            path, body: .model(model), query: query, headerFields: headerFields, expecting: expecting,
            options: options)
    }

    /// A PATCH request (RFC 5789) with a body of any kind: a JSON literal, named values, bytes, text, a file, a stream, parts, or none.
    public static func patch(
        _ path: String, body: DataRequest.Body = .none, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) -> DataRequest {
        DataRequest(
            .patch, path, query: query, headerFields: headerFields, body: body, expecting: expecting, options: options)
    }

    /// A PATCH request (RFC 5789) with a model as its body; see ``DataRequest/Body/model(_:as:)``.
    public static func patch(
        _ path: String, body model: some Encodable & Sendable, query: QueryItems = QueryItems(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) -> DataRequest {
        .patch(
            path, body: .model(model), query: query, headerFields: headerFields, expecting: expecting,
            options: options)
    }
}
