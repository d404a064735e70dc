import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials
import Testing

private struct LoginReply: Decodable, Sendable {
    var token: String?
    var lifetime: Int
}

// Article begins
struct ShopLogin: AccessTokenProvider {
    let login: HTTPDataRequestService
    let key: String

    func token(replacing old: AccessToken?) async throws -> AccessToken {
        let reply: LoginReply = try await login.post(
            "login", body: ["key": key])
        guard let token = reply.token else {
            throw AccessTokenRejection("The key was withdrawn.")
        }
        return try AccessToken(token, expiresIn: .seconds(reply.lifetime))
    }
}
// Article ends

@Suite("The article Refreshing tokens")
struct RefreshingTokensTests {
    private struct Order: Codable, Hashable, Sendable {
        var id: Int
    }

    /// A server whose endpoint `/login` gives the token `key-token` for the key `key`, unless the key is withdrawn.
    private final class Shop: Sendable {
        let withdrawn = Mutex<Set<String>>([])
        let valid = Mutex<Set<String>>([])

        func reply(to request: ServerRequest) -> ServerReply {
            let json = [("Content-Type", "application/json")]
            if request.path == "/login" {
                let key = request.bodyText.split(separator: "\"").last { $0 != "}" }.map(String.init) ?? ""
                guard !withdrawn.withLock({ $0.contains(key) }) else {
                    return .response(headers: json, body: #"{"lifetime":0}"#)
                }
                _ = valid.withLock { $0.insert("Bearer \(key)-token") }
                return .response(headers: json, body: #"{"token":"\#(key)-token","lifetime":60}"#)
            }
            if request.path == "/token" {
                _ = valid.withLock { $0.insert("Bearer oauth") }
                return .response(headers: json, body: #"{"access_token":"oauth","token_type":"Bearer"}"#)
            }
            guard valid.withLock({ $0.contains(request.header("Authorization") ?? "") }) else {
                return .response(status: 401)
            }
            return .response(headers: json, body: #"[{"id":7}]"#)
        }
    }

    @Test("The article on refreshing tokens shows a provider, its failures, a logout and several origins")
    func provider() async throws {
        let server = Shop()
        let listener = try LoopbackServer { server.reply(to: $0) }
        let login = try HTTPDataRequestService(environment: ConstantEnvironment(listener.url))
        let shop = try HTTPDataRequestService(environment: ConstantEnvironment(listener.url))
        let pictures = try HTTPDataRequestService(environment: ConstantEnvironment(listener.url))
        let (key, newKey) = ("first", "second")

        // Article begins
        let credentials = Credentials.tokens(ShopLogin(login: login, key: key))
        shop.setAuthorization(credentials)
        let orders: [Order] = try await shop.get("orders")
        // Article ends
        #expect(orders == [Order(id: 7)])

        // Article begins
        pictures.setAuthorization(credentials)
        // Article ends
        try await pictures.get("orders")
        #expect(listener.requests.filter { $0.path == "/login" }.count == 1)

        server.valid.withLock { $0 = [] }
        _ = server.withdrawn.withLock { $0.insert(key) }
        var shown: [String] = []
        func showLogin() { shown.append("login") }
        func show(_ text: String) { shown.append(text) }

        // Article begins
        do throws(RequestFailure) {
            try await shop.get("orders")
        } catch {
            if error.underlying is AccessTokenRejection {
                showLogin()
            } else {
                show(error.remedy ?? error.message)
            }
        }
        // Article ends
        #expect(shown == ["login"])

        // Article begins
        await shop.clearAuthorization()
        shop.setAuthorization(.tokens(ShopLogin(login: login, key: newKey)))
        // Article ends
        try await shop.get("orders")
        #expect(listener.requests.last?.header("Authorization") == "Bearer second-token")
        for service in [shop, pictures, login] { await service.shutdown() }
        listener.stop()
    }

    @Test("The article on refreshing tokens shows a refresh token in a file, and how it is removed")
    func oauth() async throws {
        let server = Shop()
        let listener = try LoopbackServer { server.reply(to: $0) }
        let shop = try HTTPDataRequestService(environment: ConstantEnvironment(listener.url))
        let (endpoint, secret, refreshToken) = (listener.url + "/token", "s3cret", "r0")
        let trust = TrustPolicy()
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path + ".lock") }

        // Article begins
        let tokens = OAuth2Tokens(
            try OAuth2Tokens.Configuration(
                endpoint: endpoint, clientID: "shop", clientSecret: secret,
                grant: .refreshToken),
            transport: try CurlTransport(trust: trust),
            store: try FileTokenStore(path))
        try await tokens.save(StoredTokens(refreshToken: refreshToken))
        shop.setAuthorization(.tokens(tokens))
        // Article ends
        try await shop.get("orders")
        #expect(listener.requests.last?.header("Authorization") == "Bearer oauth")
        #expect(FileManager.default.fileExists(atPath: path))

        try await severalEnvironments()

        // Article begins
        await shop.clearAuthorization()
        try await tokens.clear()
        // Article ends
        #expect(!FileManager.default.fileExists(atPath: path))
        await shop.shutdown()
        listener.stop()
    }

    @Test("The article on refreshing tokens shows a test with a script for the token endpoint and one for the API")
    func scripted() async throws {
        // Article begins
        let login = ScriptedTransport()
        login.on(.post, "/token").answer(json: [
            "access_token": "t1", "token_type": "Bearer", "expires_in": 3600,
        ]).expected()
        let api = ScriptedTransport()
        api.on(.get, "/v1/orders", headerFields: [.authorization: "Bearer t1"])
            .answer(json: [["id": 7]])

        let client = try OAuth2Tokens.Configuration(
            endpoint: "https://login.test/token", clientID: "shop",
            clientSecret: "s3cret")
        let shop = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.test/v1/"),
            transport: api)
        shop.setAuthorization(.tokens(OAuth2Tokens(client, transport: login)))

        let orders: [Order] = try await shop.get("orders")
        #expect(login.requests[0].bodyText == "grant_type=client_credentials")
        #expect(login.problems + api.problems == [])
        // Article ends
        #expect(orders == [Order(id: 7)])
        try login.requests[0].expect(headerFields: [.authorization: "Basic c2hvcDpzM2NyZXQ="])
        try await shop.get("orders")
        #expect(login.requests.count == 1)
        await shop.shutdown()
    }

    /// Sets the credentials of two environments, and uses both.
    private func severalEnvironments() async throws {
        let servers = [Shop(), Shop()]
        let listeners = try servers.map { server in try LoopbackServer { server.reply(to: $0) } }
        let environments = try SwitchableEnvironment(
            zip(["production", "staging"], listeners).map { name, listener in
                try EnvironmentSnapshot(name: name, baseURL: RequestURL(listener.url + "/"))
            })
        let shop = try HTTPDataRequestService(environment: environments)
        let (secrets, trust) = (["production": "s3cret", "staging": "s2cret"], TrustPolicy())

        // Article begins
        for environment in environments.environments {
            var client = try OAuth2Tokens.Configuration(
                endpoint: "\(environment.baseURL)token", clientID: "shop",
                clientSecret: secrets[environment.name])
            client.scopes = ["orders.read", "orders.write"]
            let policy = environment.trust ?? trust
            let tokens = OAuth2Tokens(
                client, transport: try CurlTransport(trust: policy))
            shop.setAuthorization(.tokens(tokens), for: environment)
        }
        // Article ends
        for (index, name) in ["production", "staging", "production"].enumerated() {
            try environments.select(name)
            try await shop.get("orders")
            #expect(listeners.map { $0.requests.count { $0.path == "/token" } } == (index == 0 ? [1, 0] : [1, 1]))
        }
        for listener in listeners {
            let form = listener.requests.first?.bodyText ?? ""
            #expect(form.contains("scope=orders.read") && form.contains("orders.write"))
            #expect(listener.requests.last?.header("Authorization") == "Bearer oauth")
        }
        #expect(
            listeners.map { $0.requests.first?.header("Authorization") }
                == secrets.sorted { $0.key < $1.key }.map { _, secret in
                    "Basic " + Data("shop:\(secret)".utf8).base64EncodedString()
                })
        await shop.shutdown()
        for listener in listeners { listener.stop() }
    }
}
