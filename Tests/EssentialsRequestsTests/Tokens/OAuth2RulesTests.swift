import EssentialsHTTP
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("OAuth 2.0 messages")
struct OAuth2RulesTests {
    private static func configuration(
        secret: String? = "s3cret", _ grant: OAuth2Tokens.Grant = .clientCredentials
    ) throws -> OAuth2Tokens.Configuration {
        try OAuth2Tokens.Configuration(
            endpoint: "https://login.example.com/token?x=1", clientID: "shop", clientSecret: secret, grant: grant)
    }

    private static func issued(_ body: String, status: Int = 200) throws -> OAuth2Rules.Issued {
        try reading(body, status: status).issued.get()
    }

    private static func reading(_ body: String, status: Int = 200) -> OAuth2Rules.Reading {
        OAuth2Rules.read(HTTPResponse(status: .init(code: status)), Data(body.utf8), host: "login.example.com")
    }

    // MARK: Requests

    @Test("Client credentials are sent by Basic authentication")
    func basic() throws {
        let request = try OAuth2Rules.request(Self.configuration(), refreshToken: nil)
        #expect(request.method == .post)
        #expect(request.bodyText == "grant_type=client_credentials")
        #expect(request.headerFields[.contentType] == "application/x-www-form-urlencoded")
        #expect(request.headerFields[.accept] == "application/json")
        let expected = "Basic " + Data("shop:s3cret".utf8).base64EncodedString()
        #expect(request.headerFields[.authorization] == expected)
        #expect(request.options.totalTimeout == .seconds(20))
        #expect(request.options.delivery == .collected(upTo: 65_536))
    }

    @Test("The identifier and the secret are form-encoded before they are joined")
    func encoding() throws {
        let configuration = try OAuth2Tokens.Configuration(
            endpoint: "https://login.example.com/", clientID: "a:b c", clientSecret: "ü+%&\n")
        let request = try OAuth2Rules.request(configuration, refreshToken: nil)
        let expected = "Basic " + Data("a%3Ab%20c:%C3%BC%2B%25%26%0A".utf8).base64EncodedString()
        #expect(request.headerFields[.authorization] == expected)
    }

    @Test("The identifier and the secret can be sent in the body, with scopes and further parameters")
    func body() throws {
        var configuration = try Self.configuration()
        configuration.clientAuthentication = .body
        configuration.scopes = ["read", "write"]
        configuration.parameters = ["audience": "https://api.example.com"]
        let request = try OAuth2Rules.request(configuration, refreshToken: nil)
        #expect(
            request.bodyText == "grant_type=client_credentials&scope=read%20write&client_id=shop&client_secret=s3cret"
                + "&audience=https%3A%2F%2Fapi.example.com")
        #expect(request.headerFields[.authorization] == nil)
    }

    @Test("A public client sends its identifier and its refresh token in the body")
    func publicClient() throws {
        let request = try OAuth2Rules.request(Self.configuration(secret: nil, .refreshToken), refreshToken: "r&1")
        #expect(request.bodyText == "grant_type=refresh_token&refresh_token=r%261&client_id=shop")
        #expect(request.headerFields[.authorization] == nil)
    }

    @Test(
        "An endpoint without TLS is refused, unless it is on this machine",
        arguments: [
            ("http://login.example.com/token", false), ("http://192.0.2.1/", false), ("http://127.example.com/", false),
            ("http://localhost.example.com/", false), ("http://127.0.0.1:8080/token", true), ("http://[::1]/", true),
            ("http://localhost/", true), ("https://login.example.com/token", true),
        ])
    func plaintext(endpoint: String, isAllowed: Bool) {
        func make() throws(RequestFailure) {
            _ = try OAuth2Tokens.Configuration(endpoint: endpoint, clientID: "a", clientSecret: "b")
        }
        if isAllowed {
            #expect(throws: Never.self) { try make() }
        } else {
            let failure = #expect(throws: RequestFailure.self) { try make() }
            #expect(failure?.reason == .plaintextRefused)
        }
    }

    @Test("A client without an identifier or without a secret for its credentials is refused")
    func incomplete() {
        for (id, secret) in [("", "x"), ("a", nil)] as [(String, String?)] {
            let failure = #expect(throws: RequestFailure.self) {
                try OAuth2Tokens.Configuration(endpoint: "https://a.example/", clientID: id, clientSecret: secret)
            }
            #expect(failure?.reason == .invalidRequest)
        }
    }

    // MARK: Responses

    @Test(
        "The tokens of a response are read",
        arguments: [
            (#"{"access_token":"t","token_type":"Bearer","expires_in":60,"refresh_token":"r s"}"#, 60, "r s"),
            (#"{"access_token":"t","token_type":"bEARER","expires_in":"60"}"#, 60, nil),
            (#"{"access_token":"t","expires_in":59.9,"refresh_token":null}"#, 59, nil),
            (#"{"access_token":"t","expires_in":0,"other":[{}]}"#, 0, nil),
            (#"{"access_token":"t","expires_in":315360000}"#, 315_360_000, nil),
            (#"{"access_token":"t","expires_in":null,"token_type":null,"error":null}"#, nil, nil),
            (#"{"access_token":"t","token_type":"","refresh_token":"","error":""}"#, nil, nil),
            (#"{"access_token":"t","refresh_token":"ü\u0007"}"#, nil, "ü\u{7}"),
        ] as [(String, Int64?, String?)])
    func response(body: String, lifetime: Int64?, refreshToken: String?) throws {
        let issued = try Self.issued(body)
        #expect(issued == .init(accessToken: "t", expiresIn: lifetime, refreshToken: refreshToken))
    }

    @Test(
        "A lifetime that cannot be one is unknown, and the tokens are used",
        arguments: [
            "-1", #""-1""#, #""soon""#, "\"\"", "[]", "{}", "true", "315360001", "1e300", "1e999",
            "18446744073709551615", "99999999999999999999", #""99999999999999999999""#, #"" 60""#, #""1e3""#,
        ])
    func unknownLifetime(text: String) throws {
        let issued = try Self.issued(#"{"access_token":"t","expires_in":\#(text),"refresh_token":"r1"}"#)
        #expect(issued == .init(accessToken: "t", expiresIn: nil, refreshToken: "r1"))
    }

    @Test("A refresh token that is no text is not used", arguments: ["7", "[]", "false", #""\#(tooLong)""#])
    func oddRefreshToken(text: String) throws {
        let issued = try Self.issued(#"{"access_token":"t","expires_in":60,"refresh_token":\#(text)}"#)
        #expect(issued == .init(accessToken: "t", expiresIn: 60, refreshToken: nil))
    }

    private static let tooLong = String(repeating: "s", count: OAuth2Rules.maximumBody + 1)

    @Test("A refresh token is used whatever its length, because the one before it may be spent")
    func longRefreshToken() throws {
        let long = String(repeating: "r", count: OAuth2Rules.maximumToken + 1)
        #expect(try Self.issued(#"{"access_token":"t","refresh_token":"\#(long)"}"#).refreshToken == long)
    }

    @Test("Tokens of every successful status are used")
    func created() throws {
        #expect(try Self.issued(#"{"access_token":"t"}"#, status: 201).accessToken == "t")
    }

    @Test(
        "A refresh token is read although the rest of the response cannot be used",
        arguments: [
            (200, #""access_token":"t","token_type":"mac""#), (200, #""access_token":"s3cret x""#), (200, #""a":1"#),
            (200, #""error":"server_error""#), (202, #""error":7"#), (200, #""expires_in":1e999"#),
        ])
    func onlyRefreshToken(status: Int, members: String) {
        let reading = Self.reading(#"{\#(members),"refresh_token":"r1"}"#, status: status)
        #expect(reading.refreshToken == "r1")
        #expect(throws: (any Error).self) { try reading.issued.get() }
        #expect(Self.reading(#"{\#(members),"refresh_token":"r1"}"#, status: 400).refreshToken == nil)
    }

    @Test(
        "A response that breaks the rules is refused without showing it",
        arguments: [
            "", "s3cret", "[]", "null", "{}", #"{"access_token":7}"#, #"{"access_token":""}"#,
            #"{"access_token":"s3cret x"}"#, #"{"access_token":"s3cret\r\n"}"#,
            #"{"access_token":"s3cret","token_type":"mac"}"#, #"{"access_token":"s3cret","token_type":7}"#,
            #"{"access_token":"s3cret","#, #"{"access_token":""# + String(repeating: "s", count: 20_000) + #""}"#,
            String(repeating: "[", count: 30_000),
        ])
    func broken(body: String) {
        let failure = #expect(throws: RequestFailure.self) { try Self.issued(body) }
        #expect(failure?.reason == .protocolViolation)
        #expect(failure?.host == "login.example.com")
        #expect(failure?.description.contains("s3cret") == false)
    }

    @Test(
        "An error code is a rejection that names it, and one of the standard is so whatever the status",
        arguments: [
            (400, "invalid_grant"), (200, "invalid_grant"), (500, "invalid_grant"), (401, "invalid_client"),
            (403, "access_denied"), (429, "invalid_client"), (200, "bad_refresh_token"), (400, "Bad Request"),
            (409, "urn:example:locked"), (201, "unauthorized_client"), (503, "unsupported_grant_type"),
            (408, "invalid_scope"), (502, "invalid_request"),
        ])
    func errorCodes(status: Int, code: String) throws {
        let rejection = #expect(throws: AccessTokenRejection.self) {
            try Self.issued(
                #"{"error":"\#(code)","error_description":"s3cret","access_token":"t"}"#, status: status)
        }
        #expect(rejection?.message == "The token endpoint responded with the error \(code).")
        let failure = try #require(rejection?.underlying as? RequestFailure)
        #expect(failure.reason == .authorization && failure.status?.code == status)
        #expect(failure.message == rejection?.message)
        #expect(!failure.description.contains("s3cret"))
    }

    @Test(
        "Errors that may pass can be tried again, and name the code or the status",
        arguments: [
            (400, #"{"error":"temporarily_unavailable"}"#, "the error temporarily_unavailable"),
            (200, #"{"error":"server_error"}"#, "the error server_error"),
            (429, #"{"error":"slow_down"}"#, "the error slow_down"), (500, "<html>", "the status 500"),
            (503, #"{"status":503,"error":"Service Unavailable"}"#, "the error Service Unavailable"),
            (429, #"{"error":"Too Many Requests"}"#, "the error Too Many Requests"),
            (429, #"{"error":"too_many_requests"}"#, "the error too_many_requests"),
            (503, #"{"error":"unavailable"}"#, "the error unavailable"),
            (408, #"{"error":"request_timeout"}"#, "the error request_timeout"),
            (503, #"{"error":"urn:example:locked"}"#, "the error urn:example:locked"),
            (302, "", "the status 302"), (400, #"{"error":7}"#, "the status 400"), (204, "", "the status 204"),
            (502, #"{"error":"a\u0007\u202Eb"}"#, "the error a\u{FFFD}\u{FFFD}b"),
            (400, #"{"error":""}"#, "the status 400"), (201, "{}", "the status 201"),
        ])
    func otherErrors(status: Int, body: String, text: String) {
        let failure = #expect(throws: RequestFailure.self) { try Self.issued(body, status: status) }
        #expect(failure?.reason == .authorization)
        #expect(failure?.message == "The token endpoint responded with \(text).")
        #expect(failure?.remedy?.isEmpty == false)
    }

    @Test("No description of the provider, its configuration and its tokens shows a secret")
    func text() throws {
        let configuration = try Self.configuration()
        let provider = OAuth2Tokens(configuration, transport: StubTransport())
        let tokens = StoredTokens(accessToken: "s3cret", expiresAt: Date(), refreshToken: "s3cret")
        for value in [configuration, provider, tokens] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] { #expect(!text.contains("s3cret")) }
        }
        #expect("\(tokens)" == "StoredTokens …")
        #expect("\(provider)".contains("login.example.com/token"))
        #expect(!"\(provider) \(configuration)".contains("x=1"))
    }
}
