import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("Digest minimum", .timeLimit(.minutes(5)))
struct DigestMinimumTests {
    private struct Vector: Sendable, CustomTestStringConvertible {
        let scheme: String
        let minimum: DigestMinimum?
        let offered: [String]
        /// The realm of the challenge that is answered; `nil` if none is.
        let realm: String?
        var testDescription: String { "\(scheme) \(minimum.map { "\($0)" } ?? "default") \(offered)" }
    }

    private static let md5 = "Digest realm=plain, nonce=n"
    private static let md5Qop = "Digest realm=qop, nonce=n, qop=auth"
    private static let integrity = "Digest realm=int, nonce=n, qop=auth-int"
    private static let sha = "Digest realm=sha, nonce=n, algorithm=SHA-256"
    private static let shaQop = "Digest realm=shaqop, nonce=n, qop=auth, algorithm=SHA-256"
    private static let sess = "Digest realm=sess, nonce=n, qop=auth, algorithm=SHA-256-sess"
    private static let sha512 = "Digest realm=sha512, nonce=n, qop=auth, algorithm=SHA-512-256"

    private static let vectors = [
        Vector(scheme: "http", minimum: nil, offered: [md5], realm: nil),
        Vector(scheme: "http", minimum: nil, offered: [sha], realm: nil),
        Vector(scheme: "http", minimum: nil, offered: [md5Qop], realm: "qop"),
        Vector(scheme: "http", minimum: nil, offered: [integrity], realm: "int"),
        Vector(scheme: "http", minimum: nil, offered: [md5, md5Qop], realm: "qop"),
        Vector(scheme: "http", minimum: nil, offered: [sha, md5Qop], realm: "qop"),
        Vector(scheme: "http", minimum: .any, offered: [md5], realm: "plain"),
        Vector(scheme: "http", minimum: .any, offered: [md5, md5Qop], realm: "qop"),
        Vector(scheme: "http", minimum: .any, offered: [md5Qop, sha], realm: "sha"),
        Vector(scheme: "https", minimum: nil, offered: [md5], realm: "plain"),
        Vector(scheme: "https", minimum: nil, offered: [sha, shaQop], realm: "shaqop"),
        Vector(scheme: "https", minimum: DigestMinimum(.md5), offered: [md5], realm: nil),
        Vector(scheme: "https", minimum: DigestMinimum(.sha256), offered: [md5Qop, md5], realm: nil),
        Vector(scheme: "https", minimum: DigestMinimum(.sha256), offered: [sha], realm: nil),
        Vector(
            scheme: "https", minimum: DigestMinimum(.sha256, requiresQop: false), offered: [md5Qop, sha], realm: "sha"),
        Vector(scheme: "https", minimum: DigestMinimum(.sha256), offered: [md5Qop, sess], realm: "sess"),
        Vector(scheme: "https", minimum: DigestMinimum(.sha512Over256), offered: [shaQop], realm: nil),
        Vector(scheme: "https", minimum: DigestMinimum(.sha512Over256), offered: [shaQop, sha512], realm: "sha512"),
    ]

    private func fixture(_ vector: Vector) throws -> ServiceFixture {
        let fields = HTTPFields(vector.offered.map { HTTPField(name: .wwwAuthenticate, value: $0) })
        let transport = StubTransport { request in
            let status: HTTPResponse.Status = request.headerFields[.authorization] == nil ? .unauthorized : .ok
            return TransportResponse(
                HTTPResponse(status: status, headerFields: status == .ok ? [:] : fields),
                body: ResponseBody(Data("refused".utf8)))
        }
        let fixture = try ServiceFixture(transport, base: "\(vector.scheme)://h/")
        fixture.service.setAuthorization(try .digest(user: "ada", password: "s3cret", minimum: vector.minimum))
        return fixture
    }

    @Test("The strongest challenge that reaches the minimum is answered", arguments: vectors)
    private func choice(vector: Vector) async throws {
        let fixture = try fixture(vector)
        guard let realm = vector.realm else {
            let failure = await #expect(throws: RequestFailure.self) { try await fixture.service.get("a") }
            #expect(failure?.reason == .authorization)
            #expect(fixture.transport.requests.count == 1)
            return
        }
        let sent = try await fixture.sent(DataRequest(.get, "a"))
        #expect(sent.headerFields[.authorization]?.contains("realm=\"\(realm)\"") == true)
        #expect(fixture.transport.requests.count == 2)
    }

    @Test("The failure for weak challenges names the offered and the allowed ones and a remedy")
    func failure() async throws {
        let vector = Vector(scheme: "http", minimum: nil, offered: [Self.md5, Self.sha, Self.md5], realm: nil)
        let failure = await #expect(throws: RequestFailure.self) { try await fixture(vector).service.get("a") }
        #expect(
            failure?.message
                == "http://h offers Digest with MD5 without qop, SHA-256 without qop; "
                + "the minimum of the credentials is MD5 with qop.")
        #expect(failure?.remedy?.hasPrefix("Use https, have the server offer a stronger challenge") == true)
        #expect(failure?.response?.head.status == .unauthorized)
        #expect(failure?.response?.body == Data("refused".utf8))
        #expect(failure?.host == "h")
        #expect(failure?.phase == .receiving)
        #expect(failure?.legacyCode == 401)
    }

    @Test("The minimum does not matter for unsupported challenges, which fail with the 401")
    func unknown() async throws {
        let offered = ["Digest realm=r, nonce=n, algorithm=SHA-1", "Basic realm=b"]
        let vector = Vector(scheme: "http", minimum: nil, offered: offered, realm: nil)
        let failure = await #expect(throws: RequestFailure.self) { try await fixture(vector).service.get("a") }
        #expect(failure?.reason == .status)
    }

    @Test("Credentials with different minimums are not equal")
    func equality() throws {
        let one = try Credentials.digest(user: "ada", password: "p", minimum: .any)
        #expect(one == (try .digest(user: "ada", password: "p", minimum: .any)))
        #expect(one != (try .digest(user: "ada", password: "p")))
    }
}
