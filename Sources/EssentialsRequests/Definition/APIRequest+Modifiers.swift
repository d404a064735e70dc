public import EssentialsHTTP

/// Copies of a definition with one change.
///
/// ```swift
/// let second = Users.getAll.settingQuery("page", 2).removingHeader("X-Debug")
/// ```
extension APIRequest {
    /// A copy that is sent below another base URL.
    public func based(on base: RequestBase) -> APIRequest { changed { $0.base = base } }

    /// A copy with another path below its endpoints.
    public func setting(_ path: RequestPath) -> APIRequest {
        replacing({ $0.path = RequestPath() }, { $0.path = path })
    }
    /// A copy with other query items, also instead of the inherited ones.
    public func setting(_ query: RequestQuery) -> APIRequest {
        replacing({ $0.query = RequestQuery() }, { $0.query = query })
    }
    /// A copy with other header fields, also instead of the inherited ones.
    public func setting(_ headers: RequestHeaders) -> APIRequest {
        replacing({ $0.headers = RequestHeaders() }, { $0.headers = headers })
    }
    /// A copy with another body, also instead of an inherited one.
    public func setting(_ body: RequestContent) -> APIRequest {
        replacing({ $0.body = RequestContent() }, { $0.body = body })
    }
    /// A copy that is sent with another configuration.
    public func setting(_ configuration: APIConfiguration) -> APIRequest {
        changed { $0.configuration = configuration }
    }

    /// A copy with a longer path.
    public func adding(_ path: RequestPath) -> APIRequest { changed { $0.own.path.append(path) } }
    /// A copy with further query items.
    public func adding(_ query: RequestQuery) -> APIRequest { changed { $0.own.query.append(query) } }
    /// A copy with further header fields, which replace those of the same name.
    public func adding(_ headers: RequestHeaders) -> APIRequest { changed { $0.own.headers.append(headers) } }

    /// A copy with one value for a query item. `nil` removes it.
    public func settingQuery(_ name: String, _ value: (some CustomStringConvertible)?) -> APIRequest {
        changed { $0.own.query.set(name, value?.description) }
    }
    /// A copy with an item for each of several values, instead of the earlier items of this name.
    public func settingQuery(_ name: String, _ values: [some CustomStringConvertible]) -> APIRequest {
        values.reduce(removingQuery(name)) { $0.addingQuery(name, $1) }
    }
    /// A copy with a further query item.
    public func addingQuery(_ name: String, _ value: some CustomStringConvertible) -> APIRequest {
        changed { $0.own.query.append(name, value.description) }
    }
    /// A copy with a further query item for each of several values.
    public func addingQuery(_ name: String, _ values: [some CustomStringConvertible]) -> APIRequest {
        changed { request in for value in values { request.own.query.append(name, value.description) } }
    }
    /// A copy without the query items of a name.
    public func removingQuery(_ name: String) -> APIRequest { changed { $0.own.query.set(name, nil) } }

    /// A copy with one value for a header field. `nil` removes it.
    public func settingHeader(_ name: String, _ value: String?) -> APIRequest {
        changed { $0.own.headers.append(value.map { RequestHeader(name, $0) } ?? .removing(name)) }
    }
    /// A copy with one value for a header field. `nil` removes it.
    public func settingHeader(_ name: HTTPField.Name, _ value: String?) -> APIRequest {
        changed { $0.own.headers.append(value.map { RequestHeader(name, $0) } ?? .removing(name)) }
    }
    /// A copy with one more value for a header field.
    public func addingHeader(_ name: String, _ value: String) -> APIRequest {
        changed { $0.own.headers.append(.adding(name, value)) }
    }
    /// A copy with one more value for a header field.
    public func addingHeader(_ name: HTTPField.Name, _ value: String) -> APIRequest {
        changed { $0.own.headers.append(.adding(name, value)) }
    }
    /// A copy without a header field.
    public func removingHeader(_ name: String) -> APIRequest { changed { $0.own.headers.append(.removing(name)) } }
    /// A copy without a header field.
    public func removingHeader(_ name: HTTPField.Name) -> APIRequest {
        changed { $0.own.headers.append(.removing(name)) }
    }

    /// A copy that expects these statuses.
    public func expecting(_ status: StatusExpectation) -> APIRequest {
        changed { $0.configuration.expectedStatus = status }
    }
    /// A copy with a model type for the body of an unexpected response.
    public func errorModel<Model: Decodable & Sendable>(_ type: Model.Type) -> APIRequest {
        changed { $0.errorModel = type }
    }
    /// A copy with other codecs.
    public func codecs(_ codecs: CodecRegistry) -> APIRequest { changed { $0.codecs = codecs } }
    /// A copy with a maximum time for the whole exchange, including redirects.
    public func deadline(_ time: Duration) -> APIRequest { changed { $0.configuration.options.totalTimeout = time } }

    /// A copy that is sent again after failures as a policy says.
    public func retry(_ policy: RetryPolicy?) -> APIRequest { changed { $0.configuration.retry = policy } }
    /// A copy that says whether the server may process the request twice; see ``RequestSettings/isIdempotent``.
    public func idempotent(_ isIdempotent: Bool? = true) -> APIRequest {
        changed { $0.configuration.isIdempotent = isIdempotent }
    }
    /// A copy with the key by which the server recognizes the request if it is sent again, whatever its method. `nil`
    /// removes the key, also that of the configuration.
    ///
    /// ```swift
    /// try await requests.send(Orders.create(order).idempotencyKey(.text(order.id)))
    /// ```
    public func idempotencyKey(_ key: IdempotencyKey?) -> APIRequest { changed { $0.idempotencyKey = key } }

    /// A copy whose response is read as another type.
    public func reading<Other: Sendable>(_ type: Other.Type) -> APIRequest<Other> {
        var other = APIRequest<Other>(method, in: context, own)
        other.ownKey = ownKey
        other.failure = failure
        return other
    }

    private func replacing(
        _ inherited: (inout RequestProperties) -> Void, _ own: (inout RequestProperties) -> Void
    ) -> APIRequest {
        changed {
            $0.context.inherited.change(inherited)
            own(&$0.own)
        }
    }

    private func changed(_ change: (inout APIRequest) -> Void) -> APIRequest {
        var copy = self
        change(&copy)
        return copy
    }
}
