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

    /// A POST request (RFC 9110, 9.3.3) with a model as its body, in the media type `encoding` or as JSON.
    public static func post(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) -> DataRequest {
        DataRequest(
            .post, path, query: query, headerFields: headerFields, body: .model(body, as: encoding),
            expecting: expecting,
            options: options)
    }

    /// A POST request (RFC 9110, 9.3.3) with a JSON value as its body, which can be a literal.
    public static func post(
        _ path: String, body: JSONValue, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) -> DataRequest {
        DataRequest(
            .post, path, query: query, headerFields: headerFields, body: .json(body, as: encoding),
            expecting: expecting, options: options)
    }

    /// A POST request (RFC 9110, 9.3.3) with named values as its body, in the media type `encoding` or as JSON. A
    /// `Content-Type` among the fields wins over `encoding`.
    public static func post(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil, headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) -> DataRequest {
        DataRequest(
            .post, path, query: query, headerFields: headerFields,
            body: .parameters(parameters, standardType: encoding),
            expecting: expecting, options: options)
    }

    /// A PUT request (RFC 9110, 9.3.4) with a model as its body, in the media type `encoding` or as JSON.
    public static func put(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) -> DataRequest {
        DataRequest(
            .put, path, query: query, headerFields: headerFields, body: .model(body, as: encoding),
            expecting: expecting,
            options: options)
    }

    /// A PUT request (RFC 9110, 9.3.4) with a JSON value as its body, which can be a literal.
    public static func put(
        _ path: String, body: JSONValue, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) -> DataRequest {
        DataRequest(
            .put, path, query: query, headerFields: headerFields, body: .json(body, as: encoding),
            expecting: expecting, options: options)
    }

    /// A PUT request (RFC 9110, 9.3.4) with named values as its body, in the media type `encoding` or as JSON. A
    /// `Content-Type` among the fields wins over `encoding`.
    public static func put(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil, headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) -> DataRequest {
        DataRequest(
            .put, path, query: query, headerFields: headerFields, body: .parameters(parameters, standardType: encoding),
            expecting: expecting, options: options)
    }

    /// A PATCH request (RFC 5789) with a model as its body, in the media type `encoding` or as JSON.
    public static func patch(
        _ path: String, body: some Encodable & Sendable, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) -> DataRequest {
        DataRequest(
            .patch, path, query: query, headerFields: headerFields, body: .model(body, as: encoding),
            expecting: expecting,
            options: options)
    }

    /// A PATCH request (RFC 5789) with a JSON value as its body, which can be a literal.
    public static func patch(
        _ path: String, body: JSONValue, query: QueryItems = QueryItems(), encoding: MediaType? = nil,
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) -> DataRequest {
        DataRequest(
            .patch, path, query: query, headerFields: headerFields, body: .json(body, as: encoding),
            expecting: expecting, options: options)
    }

    /// A PATCH request (RFC 5789) with named values as its body, in the media type `encoding` or as JSON. A
    /// `Content-Type` among the fields wins over `encoding`.
    public static func patch(
        _ path: String, parameters: FormParameters = FormParameters(), query: QueryItems = QueryItems(),
        encoding: MediaType? = nil, headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) -> DataRequest {
        DataRequest(
            .patch, path, query: query, headerFields: headerFields,
            body: .parameters(parameters, standardType: encoding),
            expecting: expecting, options: options)
    }
}
