// swift-format-ignore-file
// The code stands as in the documentation comments.

import Dispatch
import EssentialsTestKit
import FoundationEssentials
import Glibc
import Logging
import ServiceEssentials
import Testing

@testable import EssentialsRequests

private struct Reply: Codable, Sendable {
    var token: String?
    var lifetime = 0
    var refreshToken = ""
}

private let transport = ScriptedTransport()
private let (token, text, secret, refreshToken) = ("", "", "", "")
private var reply: Reply { given() }
private var requests: HTTPDataRequestService { given() }
private var credentials: Credentials { given() }
private var configuration: HTTPDataRequestService.Configuration { get { given() } set {} }
private var tokens: OAuth2Tokens { given() }
private var store: any TokenStore { given() }
private func renewed(_ tokens: StoredTokens?) async throws -> StoredTokens { given() }
private struct Request: Codable, Sendable { var key = "" }

// Tokens/AccessToken.swift
private func accessTokenExample() async throws {
    let token = try AccessToken(text, expiresIn: .seconds(3600))
    use(token)
}

// Tokens/AccessTokenProvider.swift
private func accessTokenProviderExample() async throws {
    struct Login: AccessTokenProvider {
        let login: HTTPDataRequestService
        let key: String

        func token(replacing old: AccessToken?) async throws -> AccessToken {
            let reply: Reply = try await login.post("token", body: Request(key: key))
            guard let token = reply.token else { throw AccessTokenRejection("The key is not valid any more.") }
            return try AccessToken(token, expiresIn: .seconds(reply.lifetime))
        }
    }
    _ = Login.self
}

// Tokens/AccessTokenProvider.swift
private func accessTokenProviderExample2(status: HTTPResponse.Status) throws {
    guard status != .badRequest else { throw AccessTokenRejection("The refresh token was revoked.") }
}

// Tokens/OAuth2/FileTokenStore.swift
private func fileTokenStoreExample() async throws {
    let store = try FileTokenStore("/home/ada/.config/shop/tokens.json")
    use(store)
}

// Tokens/OAuth2/MemoryTokenStore.swift
private func memoryTokenStoreExample() async throws {
    let store = MemoryTokenStore(StoredTokens(refreshToken: refreshToken))
    use(store)
}

// Tokens/OAuth2/OAuth2Tokens+Configuration.swift
private func oAuth2TokensConfigurationExample() async throws {
    var configuration = try OAuth2Tokens.Configuration(
        endpoint: "https://login.example.com/token", clientID: "shop", clientSecret: secret)
    configuration.scopes = ["orders:read"]
}

// Tokens/OAuth2/OAuth2Tokens.swift
private func oAuth2TokensExample() async throws {
    let tokens = OAuth2Tokens(
        try OAuth2Tokens.Configuration(
            endpoint: "https://login.example.com/token", clientID: "shop", clientSecret: secret),
        transport: try CurlTransport())
    requests.setAuthorization(.tokens(tokens))
}

// Tokens/OAuth2/OAuth2Tokens.swift
private func oAuth2TokensExample2() async throws {
    try await tokens.save(StoredTokens(refreshToken: refreshToken))
    requests.setAuthorization(credentials)
}

// Tokens/OAuth2/StoredTokens.swift
private func storedTokensExample() async throws {
    try await tokens.save(StoredTokens(refreshToken: reply.refreshToken))
}

// Tokens/OAuth2/TokenStore.swift
private func tokenStoreExample() async throws {
    try await store.update { tokens in
        try await renewed(tokens)
    }
}

// Tokens/TokenMachine.swift
@Listed private func tokenMachineExample(token: AccessToken) throws -> [Any] {
    var machine = TokenMachine()
    machine.attach(1)
    machine.request(from: 1, waiter: 7, at: .zero)        // .wait, [.start(refresh: 1, replacing: nil)]
    machine.finished(1, .token(token), at: .zero)         // [.resume([7], lease)]
}
