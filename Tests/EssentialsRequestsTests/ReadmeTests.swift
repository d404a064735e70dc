import Dispatch
import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("README")
struct ReadmeTests {
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
        // README ends

        #expect(receipt == "tea+milk")
        #expect(await locator.validate().isEmpty)
    }

    private struct Film: Codable, Equatable, Sendable {
        var id: Int
    }

    @Test("The README's requests work")
    func requests() async throws {
        let authority = try TestAuthority(name: "Test authority")
        let certificate = try authority.issue(.init(commonName: "localhost"))
        let server = try LoopbackServer(tls: ServerTLS(certificate: certificate)) { request in
            request.method == "POST"
                ? .response(status: 201, headers: [("Content-Type", "application/json")], body: #"{"id":7}"#)
                : .response(status: 404)
        }
        let (baseURL, accessToken) = (server.url + "/v1/", "dG9rZW4=")
        let (pin, backupPin) = (certificate.publicKeyPin, authority.certificate.publicKeyPin)
        let anchors = try TrustAnchors.only([PEM(authority.certificate.certificatePEM)])
        let draft = Film(id: 0)

        // README begins
        let trust = try TrustPolicy(pins: [.publicKey(pin), .publicKey(backupPin)], anchors: anchors)
        let requests = try HTTPDataRequestService(environment: ConstantEnvironment(baseURL), trust: trust)
        requests.setAuthorization(try .bearer(accessToken))
        let request = try RequestBuilder(.post, "films").body(model: draft).expecting(201...201).build()
        let film = try await requests.model(of: request, as: Film.self)
        // README ends

        #expect(film == Film(id: 7))
        let sent = try #require(server.requests.first)
        #expect(sent.path == "/v1/films")
        #expect(sent.header("Authorization") == "Bearer dG9rZW4=")
        #expect(sent.header("Content-Type") == "application/json; charset=utf-8")
        #expect(sent.bodyText == #"{"id":0}"#)
        await requests.shutdown()
    }

    @Test("The README's definitions work, and a scripted transport answers them")
    func definitions() async throws {
        let transport = ScriptedTransport()
        let requests = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.example.com/v1/"), transport: transport)
        let film = Film(id: 7)
        transport.on(.post, "/v1/films", body: .json(film)).answer(.created, json: film)

        // README begins
        enum FilmAPI: APIService {
            static func add(_ film: Film) -> APIRequest<Film> { request(.post, "films") { RequestContent { film } } }
        }
        let added = try await requests.send(FilmAPI.add(film))
        // README ends
        #expect(added == film)

        transport.stub(FilmAPI.add(film), with: film)
        #expect(try await requests.send(FilmAPI.add(film)) == film)
        try transport.verify()
    }

    struct Rated: Codable, Sendable, Equatable {
        var id = 7
        var stars = 3
    }

    struct Rating: Codable, Sendable {
        var stars: Int
    }

    @Test("The README's resource is loaded once, written and observed")
    func resources() async throws {
        typealias Film = Rated
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/films/7").answer(json: Film())
        transport.on(.patch, "/v1/films/7").answer(.noContent)
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let resources = try HTTPResourceService(
            requests: HTTPDataRequestService(environment: environment, transport: transport), environment: environment)
        var shown: [Film?] = []
        func show(_ film: Film?, _ message: String?) {
            shown.append(film)
            Task { await resources.close() }
        }

        // README begins
        let film: Resource<Film> = resources.resource("films", "7")
        let current = try await film.loadIfNeeded()
        try await film.patch(Rating(stars: 5), optimistically: { $0.stars = 5 }, invalidating: "/lists/**")
        for await state in film.states(refreshing: .every(.seconds(5))) { show(state.content, state.failure?.message) }
        // README ends
        #expect(current == Film(stars: 3))
        #expect(shown.first == Film(stars: 5))
        #expect(transport.requestCount == 2)
    }

    @Test("The README contains exactly the tested code and has a limited length")
    func sameText() throws {
        let tested = try blocks(of: #filePath, after: { $0.hasSuffix("// README begins") }) {
            $0.hasSuffix("// README ends")
        }
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let path = root.appending(path: "README.md").path
        var shown = try blocks(of: path, after: { $0 == "```swift" }) { $0 == "```" }
        try #require(shown.count == 8)

        // The tutorial's manifest has the same dependencies.
        let resources = root.appending(path: "Sources/ServiceEssentials/ServiceEssentials.docc/Resources")
        let manifest = try lines(of: resources.appending(path: "Package-1.swift").path)
        for code in [
            #".package(path: "../ServiceEssentials")"#,
            #".product(name: "ServiceEssentials", package: "ServiceEssentials")"#,
        ] {
            #expect(manifest.contains { $0.contains(code) }, "\(code)")
            #expect(try lines(of: path).contains { $0.contains("`\(code)`") }, "\(code)")
        }
        // The whole program is the tutorial's first one, which is compiled and run.
        let program = try lines(of: root.appending(path: "Tests/Tutorials/FirstProgram/main.swift").path)
        #expect(shown.removeFirst() == program.dropLast())
        #expect(program.count { !$0.isEmpty } == 15)

        // The caching service takes the place of some lines of that program. The result is compiled and run as well.
        let begin = try #require(program.firstIndex { $0.contains("users") })
        let end = try #require(program.lastIndex { $0.contains("users") })
        let caching = try lines(of: root.appending(path: "Tests/Tutorials/CachingProgram/main.swift").path)
        let replacement = shown.remove(at: 5).map { "    " + $0 }
        #expect(program[..<begin] + replacement.map { $0[...] } + program[(end + 1)...] == caching[...])

        // What needs a trait is compiled in another target.
        let server = root.appending(path: "Tests/Examples/Tests/ExamplesTests/InspectorServerTests.swift")
        let served = try blocks(of: server.path, after: { $0.hasSuffix("// README begins") }) {
            $0.hasSuffix("// README ends")
        }
        #expect([shown.remove(at: 3)] == served.map { block in block.map { $0.dropFirst(8) } })
        let persistence = root.appending(
            path: "Tests/ServiceEssentialsTests/Persistence/ReadmePersistenceTests.swift")
        let stored = try blocks(of: persistence.path, after: { $0.hasSuffix("// README begins") }) {
            $0.hasSuffix("// README ends")
        }
        #expect(
            shown == tested.map { block in block.map { $0.dropFirst(8) } }
                + stored.map { block in block.map { $0.dropFirst(12) } })
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
