import EssentialsTestKit
import EssentialsTools

/// A server that issues, expires, rotates and revokes tokens, and that requires one for every other path.
///
/// The token endpoint is `/token` (RFC 6749). A refresh token can be used once; a second use revokes all tokens.
final class TokenServer: Sendable {
    /// Settings that a test changes while the server runs.
    struct State: Sendable {
        /// The access tokens that are accepted.
        var valid: Set<String> = []
        /// The refresh token that can be used next; `nil` if the account is locked.
        var refreshToken: String? = "r0"
        /// The lifetime of new tokens in seconds; `nil` leaves the field out.
        var lifetime: Int? = 3600
        /// Whether a refresh returns a new refresh token.
        var rotates = true
        /// Replaces the response of the token endpoint.
        var override: ServerReply?
        fileprivate(set) var issued = 0
        /// The bodies that the token endpoint received.
        fileprivate(set) var grants: [String] = []
        /// The `Authorization` fields that the token endpoint received.
        fileprivate(set) var clients: [String?] = []
        /// How often each path was requested.
        fileprivate(set) var visits: [String: Int] = [:]
        /// How often a refresh token was used a second time.
        fileprivate(set) var misuses = 0
    }

    /// The token endpoint waits for this gate, if there is one.
    private let gate: LoopbackGate?
    private let values = Mutex(State())

    init(gate: LoopbackGate? = nil) { self.gate = gate }

    var state: State { values.withLock { $0 } }

    func change(_ change: (inout State) -> Void) { values.withLock { change(&$0) } }

    func reply(to request: ServerRequest) -> ServerReply {
        if request.path == "/token" {
            gate?.wait(timeout: .seconds(60))
            return values.withLock { Self.grant(request, &$0) }
        }
        return values.withLock { state in
            state.visits[request.path, default: 0] += 1
            let value = request.header("Authorization") ?? ""
            guard value.hasPrefix("Bearer "), state.valid.contains(String(value.dropFirst(7))) else {
                let challenge = "Bearer realm=\"api\", error=\"invalid_token\""
                return .response(status: 401, headers: [("WWW-Authenticate", challenge)], body: "refused")
            }
            return .response(headers: [("Content-Type", "application/json")], body: "{}")
        }
    }

    private static func grant(_ request: ServerRequest, _ state: inout State) -> ServerReply {
        state.grants.append(request.bodyText)
        state.clients.append(request.header("Authorization"))
        if let override = state.override { return override }
        let isRefresh = request.bodyText.contains("grant_type=refresh_token")
        if isRefresh {
            let isPresent = state.refreshToken.map { request.bodyText.contains("refresh_token=\($0)") } ?? false
            guard isPresent else {
                state.misuses += 1
                state.valid = []
                state.refreshToken = nil
                return .response(
                    status: 400, headers: [("Content-Type", "application/json")], body: #"{"error":"invalid_grant"}"#)
            }
        }
        state.issued += 1
        let token = "t\(state.issued)"
        state.valid.insert(token)
        var members = [#""access_token":"\#(token)""#, #""token_type":"Bearer""#]
        if let lifetime = state.lifetime { members.append(#""expires_in":\#(lifetime)"#) }
        if isRefresh, state.rotates {
            state.refreshToken = "r\(state.issued)"
            members.append(#""refresh_token":"r\#(state.issued)""#)
        }
        return .response(
            headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
            body: "{\(members.joined(separator: ","))}")
    }
}
