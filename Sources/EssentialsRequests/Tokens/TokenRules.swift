import EssentialsHTTP

/// Decides which responses mean that a server does not accept a token.
enum TokenRules {
    private static let scheme = "bearer"
    private static let insufficientScope = Array("insufficient_scope".utf8)

    /// Whether a new token could change a 401 with these fields.
    ///
    /// This is so for a 401 without a challenge, and for one with a Bearer challenge whose error is not
    /// `insufficient_scope` (RFC 6750, 3.1), because a new token has the same scope.
    static func isRefusal(_ fields: HTTPFields) -> Bool {
        let challenges = AuthenticationChallenge.all(in: fields)
        guard !challenges.isEmpty else { return true }
        let own = challenges.filter { $0.scheme == scheme }
        return !own.isEmpty && !own.contains { $0["error"] == insufficientScope }
    }
}
