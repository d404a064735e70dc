import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

extension ToolTests {
    @Suite("Tool: access tokens")
    struct OAuthTests {
        static let client = ["ESSENTIALS_CLIENT_ID": "shop", "ESSENTIALS_CLIENT_SECRET": "s3cret"]
        static let basic = Data("shop:s3cret".utf8).base64EncodedString()

        /// A server with a token endpoint, which issues `t0ken-1`, `t0ken-2` and so on, and with resources that accept
        /// some of them.
        private final class TokenServer: Sendable {
            let server: LoopbackServer

            /// - Parameters:
            ///   - accepted: The first token that the resources accept.
            ///   - refusal: The status and the body of the token endpoint, if it issues no token.
            init(accepted: Int = 1, refusal: (status: Int, body: String)? = nil) throws {
                let issued = SharedCount()
                server = try LoopbackServer { request in
                    guard request.path == "/token" else {
                        let token = request.header("Authorization") ?? ""
                        let isAccepted = token.hasPrefix("Bearer t0ken-") && token >= "Bearer t0ken-\(accepted)"
                        return isAccepted ? .response(body: "body") : .response(status: 401, body: "refused")
                    }
                    if let refusal { return .response(status: refusal.status, body: refusal.body) }
                    let token = "t0ken-\(issued.next())"
                    let body = #"{"access_token": "\#(token)", "token_type": "Bearer", "expires_in": 600}"#
                    return .response(headers: [("Content-Type", "application/json")], body: body)
                }
            }

            var endpoint: String { server.url + "/token" }
            var grants: [ServerRequest] { server.requests.filter { $0.path == "/token" } }
            /// The `Authorization` fields of all other requests.
            var fields: [String?] {
                server.requests.filter { $0.path != "/token" }.map { $0.header("Authorization") }
            }
        }

        private final class SharedCount: Sendable {
            private let count = Mutex(0)

            func next() -> Int {
                count.withLock { count in
                    count += 1
                    return count
                }
            }
        }

        private func run(_ server: TokenServer, _ arguments: [String] = []) async throws -> ToolResult {
            let options = ["--oauth-token-url", server.endpoint] + arguments
            return try await ToolProcess(["get", server.server.url + "/a"] + options, environment: Self.client).end()
        }

        @Test("A token is fetched once with client credentials, and sent as a Bearer token, also after a redirect")
        func fetched() async throws {
            let endpoint = try TokenServer()
            let server = try LoopbackServer { request in
                request.path == "/a" ? .response(status: 302, headers: [("Location", "/b")]) : .response(body: "end")
            }
            let result = try await ToolProcess(
                ["get", server.url + "/a", "--oauth-token-url", endpoint.endpoint, "--oauth-scope", "read  write"],
                environment: Self.client
            ).end()
            #expect(result.code == 0 && result.text == "end", "\(result.errors)")
            #expect(result.errors.isEmpty)
            #expect(server.requests.map { $0.header("Authorization") } == ["Bearer t0ken-1", "Bearer t0ken-1"])
            let grant = try #require(endpoint.grants.first)
            #expect(endpoint.server.requestCount == 1)
            #expect(grant.bodyText == "grant_type=client_credentials&scope=read%20write")
            #expect(grant.header("Authorization") == "Basic " + Self.basic)
            #expect(grant.header("User-Agent")?.hasPrefix("essentials/") == true)
        }

        @Test("A 401 leads to one new token and one more request")
        func refreshed() async throws {
            let server = try TokenServer(accepted: 2)
            let result = try await run(server)
            #expect(result.code == 0 && result.text == "body", "\(result.errors)")
            #expect(server.fields == ["Bearer t0ken-1", "Bearer t0ken-2"])
            #expect(server.grants.count == 2)
        }

        @Test("A second 401 is the result")
        func refused() async throws {
            let server = try TokenServer(accepted: 9)
            let result = try await run(server)
            #expect(result.code == 1 && result.text == "refused")
            #expect(result.reason == "status", "\(result.errors)")
            #expect(server.fields == ["Bearer t0ken-1", "Bearer t0ken-2"])
            #expect(server.grants.count == 2)
        }

        @Test(
            "A refusal of the token endpoint is printed with the reason authorization and a remedy",
            arguments: [
                (401, #"{"error": "invalid_client"}"#, "Check the identifier and the secret of the client, and where"),
                (400, #"{"error": "invalid_grant"}"#, "Check the identifier and the secret of the client."),
                (400, #"{"error": "invalid_scope"}"#, "Request only scopes that the client may have."),
                (503, "no JSON", "Check the URL of the token endpoint"),
                (200, "no JSON", "Check the URL of the token endpoint"),
            ])
        func noToken(status: Int, body: String, remedy: String) async throws {
            let server = try TokenServer(refusal: (status, body))
            let result = try await run(server, ["--retry", "2"])
            #expect(result.code == 1 && result.output.isEmpty)
            #expect(result.reason == "authorization", "\(result.errors)")
            #expect(result.errors.contains("There is no access token. ") && result.errors.contains(remedy))
            #expect(server.grants.count == 1 && server.fields.isEmpty)
        }

        @Test("A token endpoint that cannot be reached is named with its own remedy")
        func unreachable() async throws {
            let result = try await ToolProcess(
                [
                    "get", "http://127.0.0.1:1/", "--oauth-token-url", "http://localhost:1/token", "--error-format",
                    "json",
                ], environment: Self.client
            ).end()
            #expect(result.code == 1)
            for part in [#""reason":"authorization""#, #""host":"localhost""#, "There is no access token. "] {
                #expect(result.errors.contains(part), "\(result.errors)")
            }
        }

        /// Arguments and variables, the exit code, and the text that must appear.
        struct Refused: Sendable {
            var arguments = ["--oauth-token-url", "https://127.0.0.1:1/token"]
            var variables = OAuthTests.client
            var code: Int32 = 64
            let says: String
        }

        @Test(
            "Missing variables, an unencrypted endpoint and other credentials are refused before anything is sent",
            arguments: [
                Refused(
                    variables: ["ESSENTIALS_CLIENT_ID": "shop"],
                    says: "--oauth-token-url needs ESSENTIALS_CLIENT_SECRET."),
                Refused(
                    variables: ["ESSENTIALS_CLIENT_ID": "", "ESSENTIALS_CLIENT_SECRET": "s3cret"],
                    says: "--oauth-token-url needs ESSENTIALS_CLIENT_ID."),
                Refused(variables: [:], says: "needs ESSENTIALS_CLIENT_ID and ESSENTIALS_CLIENT_SECRET."),
                Refused(
                    arguments: ["--oauth-token-url", "http://login.example.com/token"], code: 1,
                    says: "error: plaintextRefused: The token endpoint is not encrypted. Use its https URL."),
                Refused(arguments: ["--oauth-token-url", "login"], says: "error: invalidRequest: "),
                Refused(
                    arguments: ["--oauth-token-url", "https://a.example/", "--bearer", "s3cret"],
                    says: "Give --bearer or --oauth-token-url, not both."),
                Refused(
                    arguments: ["--oauth-token-url", "https://a.example/", "--user", "a:s3cret"],
                    says: "Give --user or --oauth-token-url, not both."),
                Refused(
                    arguments: ["--oauth-token-url", "https://a.example/", "--digest", "a:s3cret"],
                    says: "Give --digest or --oauth-token-url, not both."),
                Refused(
                    arguments: ["--oauth-token-url", "https://a.example/", "-H", "Authorization: s3cret"],
                    says: "Give --oauth-token-url or --header Authorization, not both."),
                Refused(arguments: ["--oauth-scope", "a"], says: "--oauth-scope needs --oauth-token-url."),
                Refused(
                    arguments: ["--oauth-token-url", "https://a.example/", "--oauth-scope", " "],
                    says: "--oauth-scope needs a text."),
            ])
        func refusals(given: Refused) async throws {
            let server = try LoopbackServer { _ in .response() }
            let result = try await ToolProcess(["get", server.url] + given.arguments, environment: given.variables)
                .end()
            #expect(result.code == given.code)
            #expect(result.errors.contains(given.says), "\(result.errors)")
            #expect(!result.errors.contains("s3cret"))
            #expect(server.connectionCount == 0)
        }

        @Test("The option for tokens wins over variables with other credentials")
        func variables() async throws {
            let server = try TokenServer()
            let others = ["ESSENTIALS_BEARER": "other", "ESSENTIALS_USER": "a:b"]
            let variables = Self.client.merging(others) { one, _ in one }
            let result = try await ToolProcess(
                ["get", server.server.url + "/a", "--oauth-token-url", server.endpoint], environment: variables
            ).end()
            #expect(result.code == 0, "\(result.errors)")
            #expect(server.fields == ["Bearer t0ken-1"])
        }

        @Test(
            "Verbose output shows the requests for tokens, and secrets only with --show-secrets",
            arguments: [false, true])
        func verbose(showsSecrets: Bool) async throws {
            let server = try TokenServer(accepted: 2)
            let result = try await run(server, ["-v"] + (showsSecrets ? ["--show-secrets"] : []))
            #expect(result.code == 0 && result.text == "body")
            #expect(result.errorLines.filter { $0 == "> POST /token" }.count == 2)
            for secret in [Self.basic, "t0ken-1", "t0ken-2"] {
                #expect(result.errors.contains(secret) == showsSecrets, "\(result.errors)")
            }
            #expect(!result.errors.contains("s3cret"))
        }

        @Test("A load fetches one token for all of its requests")
        func load() async throws {
            let server = try TokenServer()
            let result = try await ToolProcess(
                ["bench", server.server.url + "/a", "-n", "20", "-c", "4", "--oauth-token-url", server.endpoint],
                environment: Self.client
            ).end()
            #expect(result.code == 0, "\(result.errors)")
            #expect(server.grants.count == 1 && server.fields.count == 20)
        }
    }
}
