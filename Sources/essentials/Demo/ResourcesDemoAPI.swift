import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials

/// An HTTPS API with a basket and orders, on two servers on the loopback address: production and staging.
final class ResourcesDemoAPI: Sendable {
    /// The entity tag of the baskets.
    static let tag = #""1""#

    let production: LoopbackServer
    let staging: LoopbackServer
    /// The only trusted authority.
    let anchors: TrustAnchors
    /// The public keys of both servers.
    let pins: [Pin]

    init() throws {
        let authority = try TestAuthority(name: "Demo Authority")
        let first = try authority.issue(TestCertificate.Template(commonName: "localhost"))
        let second = try authority.issue(TestCertificate.Template(commonName: "localhost"))
        anchors = try .only([PEM(authority.certificate.certificatePEM)])
        pins = try [.publicKey(first.publicKeyPin), .publicKey(second.publicKeyPin)]
        production = try LoopbackServer(tls: ServerTLS(certificate: first)) { Self.reply(to: $0, item: "a book") }
        staging = try LoopbackServer(tls: ServerTLS(certificate: second)) { Self.reply(to: $0, item: "a lamp") }
    }

    private static func reply(to request: ServerRequest, item: String) -> ServerReply {
        switch (request.method, request.path) {
        case ("GET", "/v1/basket") where request.header("If-None-Match") == tag:
            .response(status: 304, headers: [("ETag", tag)])
        case ("GET", "/v1/basket"): json(Basket(items: [item]), headers: [("ETag", tag)])
        case ("PATCH", "/v1/basket"): json(["error": "the item is sold out"], status: 409)
        case ("GET", "/v1/orders") where request.header("Authorization") != nil: json(["order 7"])
        default: json(["error": "no such resource"], status: 404)
        }
    }

    private static func json(
        _ value: some Encodable, status: Int = 200, headers: [(String, String)] = []
    ) -> ServerReply {
        .response(
            status: status, headers: headers + [("Content-Type", "application/json")], body: OneLine.json(value))
    }
}

/// A basket in the format of the API.
struct Basket: Codable, Sendable, Equatable {
    var items: [String]
}

/// An item to be put into the basket.
struct NewItem: Codable, Sendable {
    let item: String
}
