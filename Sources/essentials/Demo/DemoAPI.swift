import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials

/// An HTTPS API on the loopback address, and an impostor with a certificate from the same authority.
final class DemoAPI: Sendable {
    /// The server of the API.
    let server: LoopbackServer
    /// A server with a valid certificate for the same host but another key.
    let impostor: LoopbackServer
    /// The only trusted authority.
    let anchors: TrustAnchors
    /// The API's public key and its backup.
    let pins: [Pin]
    /// Opens when the request for the report has arrived.
    let reportRequested: LoopbackGate
    /// Delays the report until it is opened.
    let reportReleased: LoopbackGate

    init() throws {
        let authority = try TestAuthority(name: "Demo Authority")
        let certificate = try authority.issue(TestCertificate.Template(commonName: "localhost"))
        let backup = try authority.issue(TestCertificate.Template(commonName: "localhost"))
        let other = try authority.issue(TestCertificate.Template(commonName: "localhost"))
        anchors = try .only([PEM(authority.certificate.certificatePEM)])
        pins = try [.publicKey(certificate.publicKeyPin), .publicKey(backup.publicKeyPin)]

        let (requested, released) = (LoopbackGate(), LoopbackGate())
        (reportRequested, reportReleased) = (requested, released)
        server = try LoopbackServer(tls: ServerTLS(certificate: certificate)) { request in
            if request.path == "/v1/report" { requested.open() }
            return Self.reply(to: request, reportAfter: released)
        }
        impostor = try LoopbackServer(tls: ServerTLS(certificate: other)) { request in
            Self.reply(to: request, reportAfter: released)
        }
    }

    private static func reply(to request: ServerRequest, reportAfter gate: LoopbackGate) -> ServerReply {
        switch (request.method, request.path) {
        case ("GET", "/v1/users/1"): json(#"{"id":1,"name":"Ada Lovelace"}"#, cacheControl: "max-age=2")
        case ("POST", "/v1/users"): created(request)
        case ("GET", "/v1/report"): .raw([.gate(gate), .head(headers: [("Content-Length", "0")]), .keepAlive])
        case ("GET", "/v1/slow"): .raw([.pause(.seconds(1)), .head(headers: [("Content-Length", "0")]), .keepAlive])
        default: json(#"{"error":"no such resource"}"#, status: 404)
        }
    }

    private static func created(_ request: ServerRequest) -> ServerReply {
        guard let user = try? JSONDecoder().decode(NewUser.self, from: Data(request.body)),
            let body = try? JSONEncoder().encode(User(id: 2, name: user.name))
        else { return json(#"{"error":"no user in the body"}"#, status: 400) }
        return json(String(decoding: body, as: UTF8.self), status: 201)
    }

    private static func json(_ text: String, status: Int = 200, cacheControl: String = "no-store") -> ServerReply {
        .response(
            status: status, headers: [("Content-Type", "application/json"), ("Cache-Control", cacheControl)], body: text
        )
    }
}

/// A user in the format of the API.
struct User: Codable, Sendable, Equatable {
    let id: Int
    let name: String
}

/// A user to be created.
struct NewUser: Codable, Sendable {
    let name: String
}

/// A report that the API delivers slowly.
struct Report: Decodable, Sendable {
    let title: String
}
