import ArgumentParser
import ServiceEssentials

/// The URL and the header fields of a request.
struct RequestOptions: ParsableArguments {
    @Argument(help: "An absolute http or https URL; with --environment, a path below its base URL.")
    var url: String

    @Option(
        name: .customLong("header"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A header field; repeatable.", valueName: "'name: value'"), transform: NamedText.header)
    var headers: [NamedText] = []

    @Option(
        name: .customLong("query"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A query item; it is percent-encoded; repeatable.", valueName: "name=value"),
        transform: NamedText.queryItem)
    var query: [NamedText] = []

    @OptionGroup var authorization: AuthorizationOptions
    @OptionGroup var environment: EnvironmentOptions

    func validate() throws {
        if let option = authorization.given, hasHeader("authorization") {
            throw ValidationError("Give \(option) or --header Authorization, not both.")
        }
    }

    /// Whether a header field with this name was given.
    ///
    /// - Parameter name: The name in lower case.
    func hasHeader(_ name: String) -> Bool { headers.contains { $0.name.lowercased() == name } }

    /// The selected environment, or one for the URL's origin.
    func environmentInForce() throws(RequestFailure) -> EnvironmentSnapshot {
        if let snapshot = try environment.snapshot() { return snapshot }
        return EnvironmentSnapshot(baseURL: try RequestURL(origin: RequestURL(url).origin, path: "/"))
    }

    /// Creates the request without a body.
    func request(_ method: HTTPRequest.Method) throws(RequestFailure) -> DataRequest {
        // Without an environment the path is the whole URL, which is sent unchanged.
        let path = environment.file == nil ? try RequestURL(url).description : url
        let items = query.map { QueryItems.Item(name: $0.name, value: $0.value) }
        var request = DataRequest(method, path, query: QueryItems(items))
        for header in headers {
            request.headerFields.append(try HTTPField.checked(name: header.name, value: header.value))
        }
        return request
    }
}
