import EssentialsTestKit
import EssentialsTools
import ServiceEssentials

/// An HTTPS API with coins, their pictures and a list of views, on the loopback address. It can be down.
final class PoliciesDemoAPI: Sendable {
    let server: LoopbackServer
    /// The only trusted authority.
    let anchors: TrustAnchors
    /// The public key of the server.
    let pins: [Pin]
    private let state: State

    /// What the server shares with its handler.
    private final class State: Sendable {
        let isUp = Atomic(true)
        let coins = Mutex([Coin(name: "Bitcoin", symbol: "btc"), Coin(name: "Ether", symbol: "eth")])
        let views = Mutex<[String]>([])
    }

    init() throws {
        let authority = try TestAuthority(name: "Demo Authority")
        let certificate = try authority.issue(TestCertificate.Template(commonName: "localhost"))
        let backup = try authority.issue(TestCertificate.Template(commonName: "localhost"))
        anchors = try .only([PEM(authority.certificate.certificatePEM)])
        pins = try [.publicKey(certificate.publicKeyPin), .publicKey(backup.publicKeyPin)]
        let state = State()
        self.state = state
        server = try LoopbackServer(tls: ServerTLS(certificate: certificate)) { Self.reply(to: $0, state) }
    }

    /// Begins to end every connection without a response.
    func goDown() { state.isUp.store(false, ordering: .relaxed) }

    /// Responds again, with one more coin.
    func comeUp() {
        state.coins.withLock { $0.append(Coin(name: "Orbit", symbol: "orb")) }
        state.isUp.store(true, ordering: .relaxed)
    }

    /// The bodies of the views that were accepted, in their order.
    var views: [String] { state.views.withLock { $0 } }

    /// The number of requests with a path.
    func count(of path: String) -> Int { server.requests.count { $0.path == path } }

    private static func reply(to request: ServerRequest, _ state: State) -> ServerReply {
        guard state.isUp.load(ordering: .relaxed) else { return .reset }
        switch (request.method, request.path) {
        case ("GET", "/v1/coins"):
            return json(OneLine.json(state.coins.withLock { $0 }))
        case ("GET", "/v1/pictures/btc"):
            return .response(
                headers: [("Content-Type", "image/png"), ("Cache-Control", "max-age=60")], body: "picture")
        case ("POST", "/v1/views"):
            state.views.withLock { $0.append(request.bodyText) }
            return json("{}", status: 201)
        default:
            return json(#"{"error":"no such resource"}"#, status: 404)
        }
    }

    private static func json(_ text: String, status: Int = 200) -> ServerReply {
        .response(status: status, headers: [("Content-Type", "application/json")], body: text)
    }
}

/// A coin in the format of the API.
struct Coin: Codable, Sendable, Equatable {
    let name: String
    let symbol: String
}

/// A coin that somebody has looked at.
struct CoinView: Codable, Sendable {
    let symbol: String
}
