import Dispatch
import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The README")
struct ReadmeTests {
    struct User: Codable, Equatable, Sendable {
        var id: Int
        var name: String
    }

    struct NewUser: Codable {
        var name: String
    }

    private func server(_ certificate: TestCertificate) throws -> LoopbackServer {
        try LoopbackServer(tls: ServerTLS(certificate: certificate)) { request in
            switch (request.method, request.path) {
            case ("GET", "/v1/users"): .response(body: #"[{"id":1,"name":"Grace"}]"#)
            case ("POST", "/v1/users"): .response(status: 201, body: #"{"id":2,"name":"Ada"}"#)
            default: .hang
            }
        }
    }

    @Test("shows code that works")
    func example() async throws {
        let authority = try TestAuthority(name: "Test authority")
        let certificate = try authority.issue(.init(commonName: "localhost"))
        let server = try server(certificate)
        let baseURL = server.url + "/v1/"
        let (pin, backupPin) = (certificate.publicKeyPin, authority.certificate.publicKeyPin)
        let anchors = try TrustAnchors.only([PEM(authority.certificate.certificatePEM)])

        // README begins
        let locator = ServiceLocator(name: "app")
        try locator.register(ConstantEnvironment(baseURL), as: (any EnvironmentService).self)
        try locator.registerLazy((any DataRequestService).self) { locator in
            try HTTPDataRequestService(
                environment: locator.resolve((any EnvironmentService).self),
                trust: TrustPolicy(pins: [.publicKey(pin), .publicKey(backupPin)], anchors: anchors))
        }
        let requests = try locator.resolve((any DataRequestService).self)
        let users: [User] = try await requests.get("users", parameters: ["role": "admin"])
        let created: User = try await requests.post("users", body: NewUser(name: "Ada"))
        let token = requests.get("users/1", deserializeTo: User.self, completionQueue: .main) { print($0) }
        token.cancel()
        // README ends

        #expect(users == [User(id: 1, name: "Grace")])
        #expect(created == User(id: 2, name: "Ada"))
        #expect(token.isCancelled)
        #expect(server.requests.first?.target == "/v1/users?role=admin")
        #expect(server.requests.filter { $0.method == "POST" }.map(\.bodyText) == [#"{"name":"Ada"}"#])
    }

    @Test("shows exactly the code that is tested here, and stays short")
    func sameText() throws {
        let source = try lines(of: #filePath)
        let begin = try #require(source.firstIndex { $0.hasSuffix("// README begins") })
        let end = try #require(source.firstIndex { $0.hasSuffix("// README ends") })
        let tested = source[(begin + 1)..<end].map { $0.dropFirst(8) }
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let readme = try lines(of: root.appending(path: "README.md").path)
        let fence = try #require(readme.firstIndex { $0 == "```swift" })
        let shown = readme[(fence + 1)...].prefix { $0 != "```" }
        #expect(Array(shown) == Array(tested))
        #expect(readme.count < 150)
    }

    private func lines(of path: String) throws -> [Substring] {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }
}
