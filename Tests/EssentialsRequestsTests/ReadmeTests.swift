import Dispatch
import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("README")
struct ReadmeTests {
    struct User: Codable, Equatable, Sendable {
        var id: Int
        var name: String
    }

    struct NewUser: Codable, Sendable {
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

    @Test("The README's first example works")
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

    private protocol Checkout: Sendable { func run() -> String }

    private struct PaidCheckout: Checkout {
        let cart: any CartService
        func run() -> String { cart.items.joined(separator: "+") }
    }

    private protocol CartService: Sendable { var items: [String] { get } }

    private struct Cart: CartService {
        let items: [String]
        init(_ items: [String]) { self.items = items }
    }

    @Test("The README's scope works")
    func scope() async throws {
        let items = ["tea", "milk"]
        let locator = ServiceLocator(name: "app")

        // README begins
        let receipt = try await locator.withScope("checkout") { scope in
            try scope.register(Cart(items), as: (any CartService).self)
            try scope.registerLazy((any Checkout).self) { try PaidCheckout(cart: $0.resolve((any CartService).self)) }
            return try scope.resolve((any Checkout).self).run()
        }
        let failures = await locator.validate()  // builds everything once, and returns all that is wrong
        print(locator.graph().mermaid)  // what is registered where, and what was built from what
        // README ends

        #expect(receipt == "tea+milk")
        #expect(failures.isEmpty)
    }

    private struct Film: Decodable, Equatable, Sendable {
        var id: Int
    }

    @Test("The README's requests work")
    func requests() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        try Data("film".utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let server = try LoopbackServer { _ in
            .response(status: 201, headers: [("Content-Type", "application/json")], body: #"{"id":7}"#)
        }
        let requests = try HTTPDataRequestService(environment: ConstantEnvironment(server.url))
        let accessToken = "dG9rZW4="

        // README begins
        requests.setAuthorization(try .bearer(accessToken))
        var form = try MultipartBody()
        try form.append(.field("title", "Metropolis"))
        try form.append(.file(path, name: "film"))
        let request = try RequestBuilder(.post, "films").body(multipart: form).expecting(201...201).build()
        let film = try await requests.model(of: request, as: Film.self)
        // README ends

        #expect(film == Film(id: 7))
        let sent = try #require(server.requests.first)
        #expect(sent.header("Authorization") == "Bearer dG9rZW4=")
        #expect(sent.header("Content-Type") == form.contentType)
        #expect(sent.bodyText.contains("Metropolis"))
        await requests.shutdown()
    }

    @Test("The README's streams work")
    func streams() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let (source, destination) = (directory + "/1.mp4", directory + "/2.mp4")
        try Data("film".utf8).write(to: URL(filePath: source))
        let server = try LoopbackServer { request in
            switch (request.method, request.path) {
            case ("GET", "/moved"): .response(status: 302, headers: [("Location", "/events")])
            case ("GET", "/events"): .response(body: "data: one\n\ndata: two\n\n")
            default: .response(body: "film")
            }
        }
        let transport = try CurlTransport()
        var request = TransportRequest(.get, try RequestURL(server.url + "/moved"))
        let film = TransportRequest(.get, try RequestURL(server.url + "/film"))
        var upload = TransportRequest(.put, try RequestURL(server.url + "/film"))
        var (shown, resumable): ([String], DownloadOptions) = ([], DownloadOptions())
        func show(_ text: String) { shown.append(text) }
        resumable.resumes = true

        // README begins
        request.options.delivery = .streamed
        let redirected = try await transport.send(request, following: .limit(3))
        for try await event in redirected.response.body.serverSentEvents() { show(event.data) }

        upload.body = try .file(source)  // read while it is sent, and again after a dead connection
        let stored = try await transport.send(upload)
        let file = try await transport.download(film, to: destination, options: resumable)
        // README ends

        #expect(shown == ["one", "two"])
        #expect(stored.status == 200)
        #expect(server.requests.first { $0.method == "PUT" }?.bodyText == "film")
        #expect(file.bytes == 4)
        #expect(try Data(contentsOf: URL(filePath: destination)) == Data("film".utf8))
    }

    @Test("The README contains exactly the tested code and has a limited length")
    func sameText() throws {
        let tested = try blocks(of: #filePath, after: { $0.hasSuffix("// README begins") }) {
            $0.hasSuffix("// README ends")
        }
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let path = root.appending(path: "README.md").path
        let shown = try blocks(of: path, after: { $0 == "```swift" }) { $0 == "```" }
        #expect(shown.count == 4)
        #expect(shown == tested.map { block in block.map { $0.dropFirst(8) } })
        #expect(try lines(of: path).count < 150)
    }

    /// The lines between each pair of begin and end lines.
    private func blocks(
        of path: String, after isBegin: (Substring) -> Bool, until isEnd: (Substring) -> Bool
    ) throws -> [[Substring]] {
        var rest = try lines(of: path)[...]
        var blocks: [[Substring]] = []
        while let begin = rest.firstIndex(where: isBegin) {
            let block = rest[(begin + 1)...].prefix { !isEnd($0) }
            blocks.append(Array(block))
            rest = rest[block.endIndex...]
        }
        return blocks
    }

    private func lines(of path: String) throws -> [Substring] {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }
}
