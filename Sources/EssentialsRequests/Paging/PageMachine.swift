import EssentialsHTTP

/// Decides which request an iteration over pages sends next, and when it ends.
struct PageMachine<Model: Sendable>: Sendable {
    let maximumPages: Int
    private let paging: Paging<Model>
    /// The request for the next page, `nil` after the last one, or the failure that takes its place.
    private var upcoming: Result<DataRequest?, RequestFailure>
    private var count = 0
    /// The URLs or cursors of all pages so far.
    private var seen: Set<String> = []
    /// The URL of the first request, which is below the environment's base URL; `nil` if a test double gives no URL.
    private var firstURL: RequestURL?

    init(first: some BuildableRequest, paging: Paging<Model>, maximumPages: Int) {
        (self.paging, self.maximumPages) = (paging, maximumPages)
        upcoming = Result { () throws(RequestFailure) in
            var request = try first.build()
            if let size = try paging.sizeItem() { request.setQueryItem(size.name, to: size.value) }
            if case .number(let numbering) = paging.rule {
                request.setQueryItem(numbering.name, to: "\(numbering.first)")
            }
            return request
        }
    }

    /// The request for the next page; `nil` after the last one and after a failure.
    ///
    /// - Throws: The failure that prevents the next page.
    mutating func next() throws(RequestFailure) -> DataRequest? {
        defer { upcoming = .success(nil) }
        guard let request = try upcoming.get() else { return nil }
        guard count < maximumPages else {
            throw RequestFailure(
                .tooLarge, "The list has more than the maximum of \(maximumPages) pages.",
                remedy: "Raise maximumPages if more pages are expected, or leave the loop earlier.",
                phase: .receiving, host: firstURL?.origin.host.text)
        }
        return request
    }

    /// Takes the response to the request for a page, and prepares the request for the next one.
    ///
    /// - Throws: `hostRefused` if the page was requested elsewhere than the first one.
    mutating func received(
        _ response: ModelResponse<Model>, to request: DataRequest
    ) throws(RequestFailure) -> Paging<Model>.Page {
        try checkPlace(of: response.response)
        let page = Paging.Page(response.model, response: response.response, index: count)
        count += 1
        do throws(RequestFailure) {
            upcoming = .success(try following(page, request))
        } catch {
            upcoming = .failure(error)
        }
        return page
    }

    /// Refuses a page of another environment, which would have other items at this cursor or number. The service refuses
    /// a link to another environment before it sends the request.
    private mutating func checkPlace(of response: DataResponse) throws(RequestFailure) {
        guard let requested = response.requestedURL else { return }
        guard let first = firstURL else { return firstURL = requested }
        if case .link = paging.rule { return }
        guard requested.origin != first.origin || requested.path != first.path else { return }
        throw RequestFailure(
            .hostRefused,
            "Page \(count + 1) was requested from \(requested.origin)\(requested.path), and the pages before it from "
                + "\(first.origin)\(first.path).",
            remedy: "The environment has changed, so begin the list again.", phase: .receiving,
            host: requested.origin.host.text)
    }

    /// The failure of the current page. If the link to the page is the cause, the message says so.
    func explained(_ failure: RequestFailure) -> RequestFailure {
        // A failure with an underlying error or without a host comes from an interceptor.
        guard case .link = paging.rule, count > 0, failure.reason == .invalidRequest, failure.phase == .preparation,
            failure.underlying == nil, failure.host != nil
        else { return failure }
        return RequestFailure(
            .invalidRequest, "The link to page \(count + 1) was not requested. \(failure.message)",
            remedy: "Use an environment whose base URL is above the link, and report an unexpected link to the "
                + "operators of the server.",
            host: failure.host, underlying: failure)
    }

    // MARK: The next page

    private mutating func following(
        _ page: Paging<Model>.Page, _ current: DataRequest
    ) throws(RequestFailure) -> DataRequest? {
        var request = current
        switch try paging.next(after: page) {
        case nil: return nil
        case .number(let name, let number): request.setQueryItem(name, to: number)
        case .cursor(let name, let cursor):
            try note(cursor, "cursor", of: page.response)
            request.setQueryItem(name, to: cursor)
        case .link(let target): try request.follow(linked(to: target, from: page.response, current))
        }
        return request
    }

    /// Notes the place of the next page.
    ///
    /// - Throws: `protocolViolation` if an earlier page was there.
    private mutating func note(_ place: String, _ kind: String, of response: DataResponse) throws(RequestFailure) {
        guard !seen.insert(place).inserted else { return }
        throw RequestFailure(
            .protocolViolation, "The \(kind) after page \(count) leads to a page that was already requested.",
            remedy: "Report this to the operators of the server: the list would not end.", phase: .receiving,
            host: response.url?.origin.host.text)
    }

    /// The URL to which a link leads.
    ///
    /// - Throws: `hostRefused` if it is on another origin than the first page.
    private mutating func linked(
        to target: String, from response: DataResponse, _ current: DataRequest
    ) throws(RequestFailure) -> RequestURL {
        if let url = response.url { seen.formUnion([(response.requestedURL ?? url).description, url.description]) }
        let base = if let url = response.url { url } else { try current.standIn() }
        let url = try WebLink.url(of: target, relativeTo: base)
        if let origin = firstURL?.origin, url.origin != origin {
            throw RequestFailure(
                .hostRefused,
                "The link after page \(count) leads to \(url.origin) instead of \(origin), so it was not requested.",
                remedy: "Report this to the operators of the server. The request has credentials for \(origin) only.",
                phase: .receiving, host: origin.host.text)
        }
        try note(url.description, "link", of: response)
        return url
    }
}

extension PageMachine: CustomReflectable {
    /// The counts, without URLs and cursors, which can contain secrets.
    var customMirror: Mirror { Mirror(self, children: ["maximumPages": maximumPages, "count": count]) }
}

extension DataResponse {
    /// The URL before all redirects.
    fileprivate var requestedURL: RequestURL? { redirects.first?.from ?? url }
}

extension DataRequest {
    /// Replaces all items with this name in the query.
    fileprivate mutating func setQueryItem(_ name: String, to value: String) {
        query.items.removeAll { $0.name == name }
        if hasParametersInQuery { parameters.values[name] = nil }
        let whole = path.utf8.prefix { $0 != UInt8(ascii: "#") }
        if let mark = whole.firstIndex(of: UInt8(ascii: "?")) {
            let kept = ParameterRules.query(path[whole.index(after: mark)..<whole.endIndex], removing: name)
            path = path[..<mark] + (kept.map { "?" + $0 } ?? "")
        }
        query.append(name, value)
    }

    /// Replaces the path and the query by the URL of a link. As the path is a whole URL, the service checks that it is
    /// below the base URL.
    fileprivate mutating func follow(_ url: RequestURL) {
        path = url.origin == Self.standIn?.origin ? url.target : url.description
        query = QueryItems()
        hasWholeQuery = true
        if hasParametersInQuery { parameters = FormParameters() }
    }

    private static var standIn: RequestURL? { try? RequestURL("http://page.invalid") }

    /// A stand-in for the URL of a page if a test double gives none. It serves only to resolve relative links.
    fileprivate func standIn() throws(RequestFailure) -> RequestURL {
        if let url = try? RequestURL(path) { return url }
        guard let origin = Self.standIn?.origin else {
            throw RequestFailure(.invalidRequest, "The response has no URL.")
        }
        return try RequestURL(origin: origin, path: path.utf8.first == UInt8(ascii: "/") ? path : "/" + path)
    }
}
