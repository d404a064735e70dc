public import EssentialsHTTP

/// Requests to whole URLs on any server, such as pictures to which the responses of an API link.
///
/// Such a request carries nothing of the service that sends it, whichever that is: no credentials, cookies or client
/// certificate, no header fields, trust policy or settings of the environment, and no interceptor sees it. The fields
/// `Authorization`, `Proxy-Authorization` and `Cookie` fail as `invalidRequest`, a trust policy with a client identity fails as
/// `invalidPolicy`, and the method has to be a safe one without a body (RFC 9110, 9.2.1). This also holds for a URL of the
/// environment's own origin: a URL below its base URL is the path of a usual request. The URL is the ``path`` of the request,
/// whose ``base`` is ``RequestBase/anyServer``.
extension DataRequest {
    /// Creates a request to a whole URL on any server.
    ///
    /// ```swift
    /// let picture = try await requests.model(of: DataRequest(at: user.pictureURL), as: Data.self)
    /// try await requests.download(DataRequest(at: user.filmURL), to: "/srv/films/7.mp4")
    /// ```
    ///
    /// - Parameters:
    ///   - method: A safe method. The default is GET.
    ///   - url: The URL.
    ///   - parameters: Named values that are added to the query.
    ///   - headerFields: The request's own header fields.
    ///   - expecting: The statuses that are a success.
    ///   - options: Deadlines, limits, protocol, trust and the delivery of the body.
    public init(
        _ method: HTTPRequest.Method = .get, at url: RequestURL, parameters: FormParameters = FormParameters(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) {
        self.init(
            method, url.description, parameters: parameters, headerFields: headerFields, expecting: expecting,
            options: options)
        base = .anyServer
    }

    /// Creates a request to a whole URL on any server from text, with the scheme `http` or `https`. Invalid text fails as
    /// `invalidRequest` when the request is sent.
    public init(
        _ method: HTTPRequest.Method = .get, at url: String, parameters: FormParameters = FormParameters(),
        headerFields: HTTPFields = HTTPFields(), expecting: StatusExpectation = .success,
        options: TransportOptions = TransportOptions()
    ) {
        self.init(
            method, url, parameters: parameters, headerFields: headerFields, expecting: expecting, options: options)
        base = .anyServer
    }

    /// The request to another URL, which carries nothing of the service that sends it.
    package func atAnyServer(_ url: RequestURL) -> DataRequest {
        var request = self
        request.path = url.description
        request.base = .anyServer
        return request
    }

    private static let credentialFields: [HTTPField.Name] = [.authorization, .proxyAuthorization, .cookie]

    /// Refuses what a request to any server must not carry.
    func checkForAnyServer(host: String) throws(RequestFailure) {
        guard method.isSafe, body.isNone else {
            throw RequestFailure(
                .invalidRequest, "A request to any server cannot have the method \(method.rawValue) or a body.",
                remedy: "Use an environment, or a base URL, for this server.", host: host)
        }
        for name in Self.credentialFields where headerFields.contains(name) {
            throw RequestFailure(
                .invalidRequest, "A request to any server carries no credentials, but it has the field \(name).",
                remedy: "Remove the field, or use an environment, or a base URL, for this server.", host: host)
        }
        guard options.trust?.identity == nil else { throw .identityForAnyServer(host: host) }
    }
}
