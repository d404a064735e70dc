import EssentialsHTTP
import EssentialsRequests

extension HTTPResourceService {
    /// - Throws: `closed` after the service was closed.
    func checkOpen() throws(RequestFailure) {
        guard !isClosed else {
            throw RequestFailure(.closed, "The resource service was closed.", remedy: "Create another one.")
        }
    }

    /// Makes sure that a request of one account is not sent with the credentials of the next one.
    ///
    /// - Throws: `authorization` if the credentials were cleared or replaced since, and `cancelled` if another
    ///   environment or partition was entered.
    func checkAdopted(_ environment: AdoptedEnvironment) throws(RequestFailure) {
        try environment.checkCredentials()
        adoptEnvironment()
        guard adoption.isCurrent(environment) else {
            throw RequestFailure(.cancelled, "Another environment or partition was entered before the end of the loop.")
        }
    }

    /// Makes sure that a request of one account is not sent with the credentials of the next one.
    ///
    /// - Throws: `cancelled` if another partition was entered since.
    func checkPartition(of environment: AdoptedEnvironment) throws(RequestFailure) {
        guard adoptEnvironment().partition == environment.partition else {
            throw RequestFailure(.cancelled, "Another partition was entered before the request was sent.")
        }
    }

    /// Returns the request of a load, with the base and path of the resource.
    ///
    /// Header fields have this order of precedence: the variant's, the definition's, the configuration's.
    ///
    /// - Parameter condition: The header field that makes the request conditional; `nil` if it is unconditional. A
    ///   condition of the configuration takes precedence.
    /// - Throws: `invalidRequest` if the resource has no URL or its definition is invalid.
    func request(
        _ wish: LoadWish, for core: ResourceCore, _ condition: (name: HTTPField.Name, value: String)?
    ) throws(RequestFailure) -> DataRequest {
        if var request = wish.request {
            if !wish.joins, request.settings.joins == nil { request.settings.joins = false }
            if request.isConditional { request.expectedStatus = request.expectedStatus.union(Self.unchanged) }
            return request.requesting(core.responseKind)
        }
        var request = try request(.get, for: core, in: wish.environment)
        if let cacheControl = wish.cacheControl { request.headerFields[.cacheControl] = cacheControl }
        if !wish.joins { request.settings.joins = false }
        if let condition, !request.isConditional { request.headerFields[condition.name] = condition.value }
        if request.isConditional { request.expectedStatus = request.expectedStatus.union(Self.unchanged) }
        return request.requesting(core.responseKind)
    }

    /// Returns the request that a recipe describes.
    func request(
        _ recipe: RequestRecipe, for core: ResourceCore, in environment: AdoptedEnvironment
    ) throws(RequestFailure) -> DataRequest {
        guard !recipe.isRepeated || recipe.body.isReplayable else {
            throw RequestFailure(.notReplayable, "The body of the repeated request cannot be sent twice.")
        }
        var request = try request(recipe.method, for: core, in: environment)
        if let cacheControl = recipe.cacheControl {
            // A load by hand goes to the server, even if it is repeated.
            request.headerFields[.cacheControl] = cacheControl
            request.settings.joins = false
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

    /// Sends the request of a resource, but only with the credentials of its operation; see `ForeignAccess`.
    func transmit(
        _ request: DataRequest, for core: ResourceCore, in environment: AdoptedEnvironment
    ) async throws(RequestFailure) -> DataResponse {
        let access = ForeignAccess(requests: requests, open: open, hosts: configuration.foreignHosts)
        return try await access.send(request.inScope(of: environment), to: core.address.place)
    }

    private static var unchanged: StatusExpectation { 304 }
}

extension DataRequest {
    /// Returns the request with the credentials of an operation. If they were cleared or replaced, it fails as
    /// `authorization`.
    func inScope(of environment: AdoptedEnvironment) -> DataRequest {
        guard scope == nil, let present = environment.scope else { return self }
        var request = self
        request.scope = present
        return request
    }

    /// Adds header fields whose names the request does not have.
    mutating func setFields(_ fields: HTTPFields) {
        guard !fields.isEmpty else { return }
        let own = Set(headerFields.map(\.name))
        for field in fields where !own.contains(field.name) { headerFields.append(field) }
    }
}
