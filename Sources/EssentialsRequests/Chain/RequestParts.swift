import EssentialsHTTP

/// The parts of a request that interceptors may change.
struct RequestParts: Sendable {
    /// Where the parameters are sent.
    enum ParameterPlace: Sendable {
        case query
        /// The parameters are the body.
        case body
        /// The query, because the body is of another kind.
        case queryBesideBody
    }

    /// The fields of the request and of the interceptors so far.
    var headerFields: HTTPFields
    var parameters: FormParameters
    /// The names of fields that were dropped because they were already set.
    var passedOver: [HTTPField.Name] = []
    let place: ParameterPlace
    /// The URL without the parameters.
    let joined: RequestURL
    let formEncoding: FormEncoding

    /// The URL with its query so far.
    ///
    /// - Throws: `invalidRequest` if the parameters cannot be encoded as a query.
    var url: RequestURL {
        get throws(RequestFailure) {
            guard place != .body, !parameters.isEmpty else { return joined }
            let query = try formEncoding.query(parameters)
            return query.isEmpty ? joined : joined.appending(encodedQuery: query)
        }
    }
}
