import EssentialsHTTP

/// Decides which request one iteration sends next, and when the list ends.
struct PageMachine<Model: Sendable>: Sendable {
    /// The maximum length of a link or a cursor in bytes. They are kept to recognise repetitions.
    static var maximumLength: Int { 64 << 10 }

    let maximumPages: Int
    private let paging: Paging<Model>
    /// The request for the next page, `nil` after the last one, or the failure that takes its place.
    private var upcoming: Result<DataRequest?, RequestFailure>
    /// The request of the current page.
    private var current: DataRequest?
    private var count = 0
    /// The URLs or cursors of all pages so far.
    private var seen: Set<String> = []
    /// The URL of the first request, which is below the environment's base URL; `nil` if a test double gives no URL.
    private var firstURL: RequestURL?
    private var origin: Origin? { firstURL?.origin }

    init(first: Result<DataRequest, RequestFailure>, paging: Paging<Model>, maximumPages: Int) {
        self.paging = paging
        self.maximumPages = maximumPages
        upcoming = first.flatMap { request in
            Result { () throws(RequestFailure) in try Self.first(of: request, paging.rule) }
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
                phase: .receiving, host: origin?.host.text)
        }
        current = request
        return request
    }

    /// Takes the response of the current page, and prepares the request for the next one.
    ///
    /// - Throws: `hostRefused` if the page was requested elsewhere than the first one.
    mutating func received(_ response: ModelResponse<Model>) throws(RequestFailure) -> PageSequence<Model>.Page {
        try checkPlace(of: response.response)
        let page = PageSequence<Model>.Page(response.model, response: response.response, index: count)
        count += 1
        do throws(RequestFailure) {
            upcoming = .success(try following(page))
        } catch {
            upcoming = .failure(error)
        }
        return page
    }

    /// Refuses a page of another environment, which would have other items at this cursor or number. The service refuses
    /// a link to another environment before it sends the request.
    private mutating func checkPlace(of response: DataResponse) throws(RequestFailure) {
        guard let requested = response.redirects.first?.from ?? response.url else { return }
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

    private static func first(
        of request: DataRequest, _ rule: Paging<Model>.Rule
    ) throws(RequestFailure) -> DataRequest {
        guard case .number(let numbering) = rule else { return request }
        var request = request
        if let size = numbering.size {
            guard size.count > 0 else {
                throw RequestFailure(
                    .invalidRequest, "A page of \(size.count) items was requested.",
                    remedy: "Request at least one item for each page.")
            }
            request.setQueryItem(size.name, to: "\(size.count)")
        }
        request.setQueryItem(numbering.name, to: "\(numbering.first)")
        return request
    }

    private mutating func following(_ page: PageSequence<Model>.Page) throws(RequestFailure) -> DataRequest? {
        guard let current else { return nil }
        switch paging.rule {
        case .link(let target):
            noteURLs(of: page.response)
            guard let target = try checked(target(page), "link") else { return nil }
            return try linked(target, from: page.response, current)
        case .cursor(let name, let cursor):
            guard let cursor = try checked(cursor(page), "cursor") else { return nil }
            guard seen.insert(cursor).inserted else { throw repeated("cursor", of: page.response) }
            var request = current
            request.setQueryItem(name, to: cursor)
            return request
        case .number(let numbering):
            guard !numbering.isLast(page) else { return nil }
            let (offset, isBeyond) = count.multipliedReportingOverflow(by: numbering.step)
            let (number, isBeyondToo) = numbering.first.addingReportingOverflow(offset)
            guard !isBeyond, !isBeyondToo else {
                throw RequestFailure(
                    .tooLarge, "The number after page \(count) does not fit into an Int.",
                    remedy: "Begin with a smaller number, or use a smaller step.", host: origin?.host.text)
            }
            var request = current
            request.setQueryItem(numbering.name, to: "\(number)")
            return request
        }
    }

    /// The text of a link or a cursor; `nil` at the end of the list.
    private func checked(_ text: String?, _ kind: String) throws(RequestFailure) -> String? {
        guard let text else { return nil }
        guard text.utf8.count <= Self.maximumLength else {
            throw RequestFailure(
                .tooLarge, "The \(kind) after page \(count) is longer than \(Self.maximumLength) bytes.",
                remedy: "Report this to the operators of the server: it has to fit into a URL.", phase: .receiving,
                host: origin?.host.text)
        }
        return text
    }

    private func repeated(_ kind: String, of response: DataResponse) -> RequestFailure {
        RequestFailure(
            .protocolViolation, "The \(kind) after page \(count) leads to a page that was already requested.",
            remedy: "Report this to the operators of the server: the list would not end.", phase: .receiving,
            host: response.url?.origin.host.text)
    }

    // MARK: Links

    private mutating func noteURLs(of response: DataResponse) {
        guard let url = response.url else { return }
        seen.formUnion([(response.redirects.first?.from ?? url).description, url.description])
    }

    /// The request for the target of a link. It has the link's URL as its path, so the service checks that the URL is
    /// below the base URL.
    private mutating func linked(
        _ target: String, from response: DataResponse, _ current: DataRequest
    ) throws(RequestFailure) -> DataRequest {
        let base = if let url = response.url { url } else { try Self.standIn(for: current) }
        let url = try WebLink.url(of: target, relativeTo: base)
        if let origin, url.origin != origin {
            throw RequestFailure(
                .hostRefused,
                "The link after page \(count) leads to \(url.origin) instead of \(origin), so it was not requested.",
                remedy: "Report this to the operators of the server. The request has credentials for \(origin) only.",
                phase: .receiving, host: origin.host.text)
        }
        guard seen.insert(url.description).inserted else { throw repeated("link", of: response) }
        var request = current
        request.path = url.origin == Self.standInOrigin ? url.target : url.description
        request.query = QueryItems()
        request.hasWholeQuery = true
        if request.hasParametersInQuery { request.parameters = FormParameters() }
        return request
    }

    /// A stand-in for the URL of a page if a test double provides none. It serves only to resolve relative links.
    private static func standIn(for request: DataRequest) throws(RequestFailure) -> RequestURL {
        if let url = try? RequestURL(request.path) { return url }
        guard let origin = standInOrigin else {
            throw RequestFailure(.invalidRequest, "The response has no URL.")
        }
        let path = request.path.utf8.first == UInt8(ascii: "/") ? request.path : "/" + request.path
        return try RequestURL(origin: origin, path: path)
    }

    private static var standInOrigin: Origin? { try? RequestURL("http://page.invalid").origin }
}

extension PageMachine: CustomReflectable {
    /// The counts, without URLs and cursors, which can contain secrets.
    var customMirror: Mirror { Mirror(self, children: ["maximumPages": maximumPages, "count": count]) }
}

extension DataRequest {
    /// Replaces all items with this name in the query.
    mutating func setQueryItem(_ name: String, to value: String) {
        query.items.removeAll { $0.name == name }
        if hasParametersInQuery { parameters.values[name] = nil }
        removePathItems(named: name)
        query.append(name, value)
    }

    private mutating func removePathItems(named name: String) {
        let whole = path.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard let mark = whole.firstIndex(of: UInt8(ascii: "?")) else { return }
        let kept = whole[whole.index(after: mark)...].split(separator: UInt8(ascii: "&")).filter { item in
            (try? QueryItems(parsing: Substring(item)))?.items.first?.name != name
        }
        let query = kept.map { String(Substring($0)) }.joined(separator: "&")
        path = String(Substring(whole[..<mark])) + (query.isEmpty ? "" : "?" + query)
    }
}
