import EssentialsHTTP
import EssentialsRequests

extension HTTPResourceService {
    /// The rules for how long content is fresh.
    var freshness: FreshnessRules {
        FreshnessRules(
            expiration: .after(configuration.defaults.expiration), retryTime: configuration.defaults.retryTime)
    }

    /// Sends the request of a load.
    ///
    /// - Parameter condition: The header field that makes the request conditional; `nil` if it is unconditional.
    func send(
        _ wish: LoadWish, for core: ResourceCore, _ condition: (name: HTTPField.Name, value: String)?
    ) async throws(RequestFailure) -> DataResponse {
        guard !isClosed else {
            throw RequestFailure(.closed, "The resource service was closed.", remedy: "Create another one.")
        }
        if var request = wish.request {
            if request.isConditional { request.expectedStatus = request.expectedStatus.union(Self.unchanged) }
            return try await requests.send(request)
        }
        let address = core.address
        let url = try table.base.requestURL(of: address)
        var fields = configuration.defaults.headerFields
        for field in core.variant.headerFields { fields[field.name] = field.value }
        if let cacheControl = wish.cacheControl { fields[.cacheControl] = cacheControl }
        var expected = StatusExpectation.success
        if let condition {
            fields[condition.name] = condition.value
            expected = expected.union(Self.unchanged)
        }
        switch address.place {
        case .below:
            var request = DataRequest(.get, "").pinned(to: wish.environment.snapshot, at: url)
            request.headerFields = fields
            request.expectedStatus = expected
            return try await requests.send(request)
        case .sameOrigin where isListed(url.origin.host, withCredentials: true):
            var request = DataRequest(.get, "", headerFields: fields, expecting: expected)
            request.base = RequestBase(url)
            return try await requests.send(request)
        case .sameOrigin, .otherOrigin, .unusable:
            return try await sendOpenly(url, fields, expected)
        }
    }

    private func sendOpenly(
        _ url: RequestURL, _ fields: HTTPFields, _ expected: StatusExpectation
    ) async throws(RequestFailure) -> DataResponse {
        let host = url.origin.host
        guard isListed(host, withCredentials: false) else {
            throw RequestFailure(
                .hostRefused, "\(host.text) is outside the environment's base URL, and no listed host.",
                remedy: "Add it to `foreignHosts` of the resource service if it is trusted.", host: host.text)
        }
        guard let open else {
            throw RequestFailure(
                .hostRefused, "The resource service has no open service for \(host.text).",
                remedy: "Create the resource service with one, such as `UnsafeRequestService`.", host: host.text)
        }
        return try await open.send(OpenRequest(url.description, headerFields: fields, expecting: expected))
    }

    private func isListed(_ host: HostName, withCredentials: Bool) -> Bool {
        configuration.foreignHosts.contains { $0.names(host) && ($0.sendsCredentials || !withCredentials) }
    }

    private static var unchanged: StatusExpectation { 304 }
}
