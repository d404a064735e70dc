import EssentialsHTTP
import EssentialsRequests

extension HTTPResourceService {
    /// - Throws: `closed` after the service was closed.
    func checkOpen() throws(RequestFailure) {
        guard !isClosed else {
            throw RequestFailure(.closed, "The resource service was closed.", remedy: "Create another one.")
        }
    }

    /// The request of a load. Its base and path are those of the resource.
    ///
    /// Header fields have this precedence: the variant's, the definition's, the configuration's.
    ///
    /// - Parameter condition: The header field that makes the request conditional; `nil` if it is unconditional.
    /// - Throws: `invalidRequest` if the resource has no URL or its definition is invalid.
    func request(
        _ wish: LoadWish, for core: ResourceCore, _ condition: (name: HTTPField.Name, value: String)?
    ) throws(RequestFailure) -> DataRequest {
        if var request = wish.request {
            if !wish.joins, request.joins == nil { request.joins = false }
            if request.isConditional { request.expectedStatus = request.expectedStatus.union(Self.unchanged) }
            return request.requesting(core.responseKind)
        }
        var request = try request(.get, for: core, in: wish.environment)
        if let cacheControl = wish.cacheControl { request.headerFields[.cacheControl] = cacheControl }
        if !wish.joins { request.joins = false }
        if let condition {
            request.headerFields[condition.name] = condition.value
            request.expectedStatus = request.expectedStatus.union(Self.unchanged)
        }
        return request.requesting(core.responseKind)
    }

    /// The request of a recipe.
    func request(
        _ recipe: RequestRecipe, for core: ResourceCore, in environment: AdoptedEnvironment
    ) throws(RequestFailure) -> DataRequest {
        guard !recipe.isRepeated || recipe.body.isReplayable else {
            throw RequestFailure(.notReplayable, "The body of the repeated request cannot be sent twice.")
        }
        var request = try request(recipe.method, for: core, in: environment)
        if let cacheControl = recipe.cacheControl {
            // A load by hand asks the server, also if it is repeated.
            request.headerFields[.cacheControl] = cacheControl
            request.joins = false
        }
        for name in Set(recipe.headerFields.map(\.name)) {
            request.headerFields[fields: name] = recipe.headerFields[fields: name]
        }
        request.body = recipe.body
        return request
    }

    /// A request with the URL of a resource, and with the header fields that all of its requests have.
    private func request(
        _ method: HTTPRequest.Method, for core: ResourceCore, in environment: AdoptedEnvironment
    ) throws(RequestFailure) -> DataRequest {
        let (address, known) = core.addressAndDefinition
        let definition = try known?.request.get()
        let url = try table.base.requestURL(of: address)
        var request = DataRequest(method, "")
        if let definition, method == .get {
            request = definition
        } else {
            request.codecs = definition?.codecs
            request.errorModel = definition?.errorModel
        }
        if address.place == .below {
            request = request.pinned(to: environment.snapshot, at: url)
        } else {
            request.base = RequestBase(url)
            request.path = ""
        }
        request.setFields(effective(for: core, method).values.headerFields)
        for field in core.variant.headerFields { request.headerFields[field.name] = field.value }
        return request
    }

    /// Sends the request of a resource: through the data-request service if the resource lies below the base URL, or if
    /// its host is listed with credentials, and otherwise through the open service.
    func transmit(_ request: DataRequest, for core: ResourceCore) async throws(RequestFailure) -> DataResponse {
        guard !request.base.isEnvironment, let url = try request.base.url else {
            return try await requests.send(request)
        }
        switch core.address.place {
        case .below: return try await requests.send(request)
        case .sameOrigin where isListed(url.origin.host, withCredentials: true):
            return try await requests.send(request)
        case .sameOrigin, .otherOrigin, .unusable: return try await sendOpenly(url, request)
        }
    }

    private func sendOpenly(_ url: RequestURL, _ request: DataRequest) async throws(RequestFailure) -> DataResponse {
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
        var copy = OpenRequest(
            url, headerFields: request.headerFields, expecting: request.expectedStatus, options: request.options)
        copy.method = request.method
        copy.redirects = request.redirects
        copy.retry = request.retry
        return try await open.send(copy.requesting(like: request))
    }

    private func isListed(_ host: HostName, withCredentials: Bool) -> Bool {
        configuration.foreignHosts.contains { $0.names(host) && ($0.sendsCredentials || !withCredentials) }
    }

    private static var unchanged: StatusExpectation { 304 }
}

extension DataRequest {
    /// Adds header fields whose names the request does not have.
    mutating func setFields(_ fields: HTTPFields) {
        guard !fields.isEmpty else { return }
        let own = Set(headerFields.map(\.name))
        for field in fields where !own.contains(field.name) { headerFields.append(field) }
    }
}
