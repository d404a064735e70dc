import EssentialsHTTP

extension DataRequest {
    /// The settings of a definition's request for GET requests that are sent again and again to a URL of their own: without
    /// query, body, validators, and the key of a single request.
    package var forLoads: DataRequest {
        var request = self
        request.method = .get
        request.body = .none
        request.query = QueryItems()
        request.settings.idempotencyKey = nil
        for name in [HTTPField.Name.contentType, .ifNoneMatch, .ifModifiedSince] {
            request.headerFields[name] = nil
        }
        return request
    }
}
