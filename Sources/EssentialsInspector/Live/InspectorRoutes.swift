import EssentialsHTTP
public import EssentialsLocator
import EssentialsTools
import FoundationEssentials
public import HTTPTypes

/// The routes of an inspector's live page, for any server.
///
/// ```swift
/// let routes = InspectorRoutes(inspector, of: locator, path: "/inspector")
/// print("http://127.0.0.1:8080" + routes.address)  // has the token
/// // in the server, for each request whose path begins with /inspector
/// let response = await routes.respond(to: request)
/// ```
///
/// | path | what |
/// |---|---|
/// | `/` | the page, which follows what happens |
/// | `/report.json` | the report |
/// | `/events` | what has changed, as server-sent events |
/// | `/health` | how the services are; the status is 503 if the program should receive no work |
///
/// Nothing changes the program. The page is for developers on the same machine. Other pages in their browsers, and other users of
/// the machine, could ask for it too, so these rules hold:
///
/// - A request needs the ``token`` in its address, as ``address`` has it, and after that a cookie. Browsers send it to other ports of
///   the machine too, but only for the same path.
/// - It names the server by `localhost`, `127.0.0.1`, `[::1]` or one of the given hosts. With another name it gets the status 421,
///   because another site could let its own name lead to this machine.
/// - It does not come from a page of another origin.
/// - The page loads nothing, sends nothing elsewhere, and runs only its own script.
///
/// The server has to listen on a loopback address only. The routes can be used from any thread.
public final class InspectorRoutes: Sendable {
    /// The number of pages that can follow at the same time. A further one gets the status 503.
    public static let maximumViewers = 8
    private static let loopback: Set = ["localhost", "127.0.0.1", "[::1]"]

    /// The secret that a request needs: 32 random letters and digits, which have about 190 bits, or the one that was given to an
    /// exposed `InspectorServer`.
    public let token: String
    /// The name and the value of the cookie. Cookies of one host are sent to all its ports, so the name is another one for each
    /// inspector, and the value is not the token.
    private let cookie = (name: "inspector-\(String.randomAlphanumeric(8))", value: String.randomAlphanumeric(32))
    /// The path below which the routes are, without a slash at its end.
    public let path: String
    private let inspector: Inspector
    private let locator: ServiceLocator?
    private let hosts: Set<String>
    /// Whether browsers send the cookie over TLS only.
    private let isSecure: Bool
    private let viewers = ViewerCount()

    /// Creates the routes.
    ///
    /// - Parameters:
    ///   - inspector: The inspector.
    ///   - locator: Its services are drawn and asked for their health. It is retained.
    ///   - path: The path below which the server calls the routes. The default is the root.
    ///   - hosts: Further names of the server in addresses, without a port. The default is none.
    public convenience init(
        _ inspector: Inspector, of locator: ServiceLocator? = nil, path: String = "", hosts: Set<String> = []
    ) {
        self.init(
            inspector, of: locator, path: path, hosts: hosts, token: .randomAlphanumeric(32), isSecure: false)
    }

    /// Creates the routes of a server with a token of its own, and with a cookie for TLS only if it is secure.
    package init(
        _ inspector: Inspector, of locator: ServiceLocator?, path: String, hosts: Set<String>, token: String,
        isSecure: Bool
    ) {
        let trimmed = path.split(separator: "/").joined(separator: "/")
        self.path = trimmed.isEmpty ? "" : "/" + trimmed
        (self.inspector, self.locator, self.token, self.isSecure) = (inspector, locator, token, isSecure)
        self.hosts = Self.loopback.union(hosts.map { $0.lowercased() })
    }

    /// The path and the query of the page, with the token.
    public var address: String { "\(path)/?token=\(token)" }

    /// Responds to a request.
    ///
    /// - Parameter request: The request, with the whole path. It has no body.
    public func respond(to request: HTTPRequest) async -> InspectorResponse {
        var response = await route(request)
        let fields: [(String, String)] = [
            ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
            ("Cross-Origin-Resource-Policy", "same-origin"), ("Referrer-Policy", "no-referrer"),
        ]
        for (name, value) in fields { response.set(name, value) }
        if request.method == .head, case .bytes(let bytes) = response.body {
            response.set("Content-Length", "\(bytes.count)")
            response.body = .bytes([])
        }
        return response
    }

    private func route(_ request: HTTPRequest) async -> InspectorResponse {
        guard [.get, .head].contains(request.method) else {
            return .text(.methodNotAllowed, "Only GET and HEAD are known here.", [("Allow", "GET, HEAD")])
        }
        guard isOwn(host: request.authority) else {
            return .text(.misdirectedRequest, "This server has another name.")
        }
        guard isOwn(origin: request) else { return .text(.forbidden, "Another site must not ask for this.") }
        let target = request.path ?? "/"
        let name = String(target.prefix { $0 != "?" })
        let query = target.dropFirst(name.count + 1)
        if let given = query.split(separator: "&").first(where: { $0.hasPrefix("token=") })?.dropFirst(6) {
            guard Self.isEqual(given, token) else { return .text(.unauthorized, "The token is wrong.") }
            // The browser does not keep the token in its history.
            return .text(.seeOther, "See the page.", [("Location", "\(path)/"), ("Set-Cookie", setCookie)])
        }
        guard hasCookie(request) else {
            return .text(.unauthorized, "Open the address that the program has printed, which has a token.")
        }
        guard name == path || name.hasPrefix(path + "/") else { return .text(.notFound, "There is no such page.") }
        return await page(String(name.dropFirst(path.count)), request)
    }

    private func page(_ name: String, _ request: HTTPRequest) async -> InspectorResponse {
        switch name {
        case "": return .text(.seeOther, "See the page.", [("Location", "\(path)/")])
        case "/":
            let nonce = InspectorPage.nonce()
            let report = await inspector.report(of: locator)
            let page = InspectorPage.text(report, isLive: true, nonce: nonce, hasPolicy: false)
            return InspectorResponse(
                .ok, .bytes(Array(page.utf8)),
                [
                    ("Content-Type", "text/html; charset=utf-8"),
                    ("Content-Security-Policy", InspectorPage.policy(nonce: nonce) + "; frame-ancestors 'none'"),
                ])
        case "/report.json": return .json(.ok, await inspector.report(of: locator))
        case "/health":
            guard let health = await locator?.health() else { return .text(.notFound, "There is no locator.") }
            return .json(health.isReady ? .ok : .serviceUnavailable, health)
        case "/events":
            guard request.method == .get else { return .text(.methodNotAllowed, "Ask with GET.", [("Allow", "GET")]) }
            guard let viewer = viewers.enter(upTo: Self.maximumViewers) else {
                return .text(.serviceUnavailable, "Too many pages follow already.", [("Retry-After", "10")])
            }
            let events = InspectorEvents(inspector, locator, viewer, after: Self.moment(of: request))
            return InspectorResponse(.ok, .events(events), [("Content-Type", "text/event-stream")])
        default: return .text(.notFound, "There is no such page.")
        }
    }

    // MARK: The sender of a request

    private func isOwn(host: String?) -> Bool {
        guard let host = host?.lowercased() else { return false }
        let end =
            host.hasPrefix("[") ? host.firstIndex(of: "]").map { host.index(after: $0) } : host.firstIndex(of: ":")
        let name = host[..<(end ?? host.endIndex)]
        let port = host[name.endIndex...]
        return hosts.contains(String(name))
            && (port.isEmpty || port.first == ":" && port.dropFirst().allSatisfy(\.isNumber))
    }

    /// Whether a page of the same origin asks, or no page at all.
    private func isOwn(origin request: HTTPRequest) -> Bool {
        guard let name = HTTPField.Name("Origin") else { return true }
        let origins = request.headerFields[values: name]
        return origins.allSatisfy { origin in
            ["http", "https"].contains { origin.lowercased() == "\($0)://\(request.authority?.lowercased() ?? "")" }
        }
    }

    private var setCookie: String {
        "\(cookie.name)=\(cookie.value); HttpOnly; SameSite=Strict; Path=\(path.isEmpty ? "/" : path)"
            + (isSecure ? "; Secure" : "")
    }

    private func hasCookie(_ request: HTTPRequest) -> Bool {
        let pairs = request.headerFields[values: .cookie].flatMap { $0.split(separator: ";") }
        return pairs.contains { pair in
            let trimmed = pair.drop { $0 == " " }
            guard trimmed.hasPrefix(cookie.name + "=") else { return false }
            return Self.isEqual(trimmed.dropFirst(cookie.name.count + 1), cookie.value)
        }
    }

    /// The moment from which a page goes on: that of the last message it has received, or that of its report.
    private static func moment(of request: HTTPRequest) -> String? {
        if let name = HTTPField.Name("Last-Event-ID"), let last = request.headerFields[name] { return last }
        let items = (request.path ?? "").split(separator: "?").dropFirst().flatMap { $0.split(separator: "&") }
        return items.first { $0.hasPrefix("after=") }.map { String($0.dropFirst(6)) }
    }

    /// Compares without telling by the time how much of it is right.
    private static func isEqual(_ text: Substring, _ secret: String) -> Bool {
        let (given, own) = (Array(text.utf8), Array(secret.utf8))
        guard given.count == own.count else { return false }
        return zip(given, own).reduce(UInt8(0)) { $0 | $1.0 ^ $1.1 } == 0
    }
}

/// The number of pages that follow.
final class ViewerCount: Sendable {
    /// A page that follows, for as long as it is held.
    final class Viewer: Sendable {
        private let count: ViewerCount

        init(_ count: ViewerCount) { self.count = count }

        deinit { count.number.withLock { $0 -= 1 } }
    }

    private let number = Mutex(0)

    /// A further page; `nil` if there are too many.
    func enter(upTo maximum: Int) -> Viewer? {
        let isIn = number.withLock { number in
            guard number < maximum else { return false }
            number += 1
            return true
        }
        return isIn ? Viewer(self) : nil
    }
}
