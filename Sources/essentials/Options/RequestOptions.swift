import ArgumentParser
import ServiceEssentials

/// The URL, the header fields and further parts of a request.
struct RequestOptions: ParsableArguments {
    @Argument(
        help: """
            An http or https URL; https if it has no scheme, as in example.com/path. A port without a host, as in \
            :8443/path, is one of localhost. With --environment, a path below its base URL.
            """)
    var url: String

    @Argument(
        help: ArgumentHelp(
            """
            Further parts of the request: name==value for the query, Name:value for a header field, and name=text or \
            name:=json for a JSON body.
            """, valueName: "item"),
        transform: RequestItem.init)
    var items: [RequestItem] = []

    @Option(
        name: [.customShort("H", allowingJoined: true), .customLong("header")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A header field. “Name:” removes the field, and “Name;” sends it empty; repeatable.",
            valueName: "'name: value'"), transform: HeaderArgument.init)
    var headers: [HeaderArgument] = []

    @Option(
        name: .customLong("query"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A query item; it is percent-encoded; repeatable.", valueName: "name=value"),
        transform: NamedText.queryItem)
    var query: [NamedText] = []

    func validate() throws {
        var names: Set<String> = []
        for case .member(let name, _) in items where !names.insert(name).inserted {
            throw ValidationError("The member “\(OneLine.text(name))” of the body is given twice.")
        }
    }

    /// Refuses credentials beside a header field for them.
    func checkCredentials(_ authorization: AuthorizationOptions) throws {
        if let option = authorization.given, hasHeader("authorization") {
            throw ValidationError("Give \(option) or --header Authorization, not both.")
        }
    }

    private var allHeaders: [HeaderArgument] {
        headers + items.compactMap { if case .header(let header) = $0 { header } else { nil } }
    }

    /// The names of the fields to leave out.
    var removedFields: [String] { allHeaders.filter { $0.value == nil }.map(\.name) }

    /// Whether a header field with this name was given or removed.
    ///
    /// - Parameter name: The name in lower case.
    func hasHeader(_ name: String) -> Bool { allHeaders.contains { $0.name.lowercased() == name } }

    /// Whether there are members of a JSON body.
    var hasMembers: Bool {
        items.contains { if case .member = $0 { true } else { false } }
    }

    /// The JSON body of the members, in their order.
    func members() throws(RequestFailure) -> String {
        var members: [String] = []
        for case .member(let name, let value) in items {
            members.append("\(JSONText.quoted(name)): \(try value.jsonText())")
        }
        return "{\(members.joined(separator: ", "))}"
    }

    /// The absolute URL; only valid without an environment.
    func absoluteURL() throws(RequestFailure) -> RequestURL { try RequestURL(URLArgument.absolute(url)) }

    /// The selected environment, or one for the URL's origin.
    func environmentInForce(_ environment: EnvironmentOptions) throws(RequestFailure) -> EnvironmentSnapshot {
        if let snapshot = try environment.snapshot() { return snapshot }
        return EnvironmentSnapshot(baseURL: try RequestURL(origin: absoluteURL().origin, path: "/"))
    }

    /// Creates the request without a body.
    func request(_ method: HTTPRequest.Method, _ environment: EnvironmentOptions) throws(RequestFailure) -> DataRequest
    {
        // Without an environment the path is the whole URL, which is sent unchanged.
        let path = environment.file == nil ? try absoluteURL().description : url
        let all = query + items.compactMap { if case .query(let item) = $0 { item } else { nil } }
        let items = all.map { QueryItems.Item(name: $0.name, value: $0.value) }
        var request = DataRequest(method, path, query: QueryItems(items))
        for header in allHeaders {
            // A field that is left out is checked, too.
            let field = try HTTPField.checked(name: header.name, value: header.value ?? "")
            if header.value != nil { request.headerFields.append(field) }
        }
        return request
    }
}
