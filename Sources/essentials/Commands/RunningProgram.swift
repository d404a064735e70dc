import EssentialsTransport
import FoundationEssentials
import ServiceEssentials

/// The pages of a running program: those of its inspector, or a route of its own.
struct RunningProgram {
    /// The size of a response that is read.
    private static let maximumSize = 64 << 20

    let url: RequestURL
    let socket: String?

    /// - Parameters:
    ///   - address: The URL of a route, or the address with a token that an inspector has printed: a URL, or `unix:`, the path of
    ///     a socket, a colon and the rest of a URL.
    ///   - socket: The Unix socket that the program listens on; `nil` for that of the address.
    init(_ address: String, socket: String?) throws(RequestFailure) {
        guard address.lowercased().hasPrefix("unix:") else {
            url = try RequestURL(URLArgument.absolute(address))
            self.socket = socket
            return
        }
        let rest = address.dropFirst(5)
        guard let end = rest.ranges(of: ":/").last?.lowerBound, end > rest.startIndex else {
            throw RequestFailure(
                .invalidRequest, "“\(RequestFailure.shown(address))” is no address of an inspector.",
                remedy: "Write it as unix:PATH:/?token=TOKEN, as the program has printed it.")
        }
        url = try RequestURL("http://localhost\(rest[rest.index(after: end)...])")
        self.socket = socket ?? String(rest[..<end])
    }

    /// Whether a text is an address, and not the name of a file.
    static func isAddress(_ text: String) -> Bool {
        ["http://", "https://", "unix:"].contains { text.lowercased().hasPrefix($0) }
    }

    /// Whether the address is that of an inspector with its token.
    private var hasToken: Bool { url.query?.split(separator: "&").contains { $0.hasPrefix("token=") } ?? false }

    /// Gets a page of the inspector if the address has a token, and otherwise what the URL leads to.
    func get(_ page: String, expecting statuses: StatusExpectation) async throws(RequestFailure) -> Data {
        var configuration = HTTPDataRequestService.Configuration()
        configuration.userAgent = EssentialsTool.userAgent
        // The token of an inspector is in the address once, and then in a cookie.
        configuration.cookies = CookieJar()
        var engine = CurlTransport.Configuration()
        engine.unixSocket = socket
        let service = try HTTPDataRequestService(
            environment: ConstantEnvironment(EnvironmentSnapshot(baseURL: RequestURL(origin: url.origin, path: "/"))),
            configuration: configuration, engine: engine)
        let result: Result<Data, RequestFailure>
        do throws(RequestFailure) { result = .success(try await get(page, statuses, service)) } catch {
            result = .failure(error)
        }
        await service.shutdown()
        return try result.get()
    }

    private func get(
        _ page: String, _ statuses: StatusExpectation, _ service: HTTPDataRequestService
    ) async throws(RequestFailure) -> Data {
        var path = String(url.path)
        let query = url.query.map { "?\($0)" } ?? ""
        if hasToken {
            // The redirect of the token leads to the page, which is not needed. A route that has a token of its own has none.
            var request = DataRequest(.get, path + query, expecting: [200...399, 503...503])
            request.redirects = .refused
            let response = try await service.send(request)
            guard response.status == .seeOther else { return try await response.body.collect(upTo: Self.maximumSize) }
            path = (path.split(separator: "/") + [Substring(page)]).joined(separator: "/")
        } else {
            path += query
        }
        let response = try await service.send(DataRequest(.get, path, expecting: statuses))
        return try await response.body.collect(upTo: Self.maximumSize)
    }
}
