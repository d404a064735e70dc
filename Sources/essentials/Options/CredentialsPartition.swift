import EssentialsTransport
import ServiceEssentials

extension AuthorizationOptions {
    /// Keeps what is stored for different credentials apart. The same user has one partition, whatever the password.
    ///
    /// The name is a hash, because it is stored as it is.
    ///
    /// - Parameters:
    ///   - policy: The trust policy, whose client certificate identifies the client as well.
    ///   - environment: The environment, whose header fields can be credentials.
    func partition(
        with policy: TrustPolicy, in environment: EnvironmentSnapshot
    ) throws(RequestFailure) -> EntityPartition {
        var parts = [owner, policy.identity.map { "certificate \($0.certificate.text)" }].compactMap(\.self)
        parts += environment.headerFields.map { "field \($0.name.canonicalName): \($0.value)" }
        guard !parts.isEmpty else { return .shared }
        guard let hash = HashFunctions.openSSL.compute(.sha256, Array(parts.joined(separator: "\n").utf8)) else {
            throw RequestFailure(.resources, "OpenSSL computed no hash.")
        }
        return EntityPartition(hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
    }

    /// Whose credentials are sent; `nil` for a request without credentials. The order is that of ``credentials(over:)``.
    private var owner: String? {
        if let url = tokenURL {
            return "client \(Self.variable(ClientCredentialsGrant.variables[0]) ?? "") \(url) \(scope ?? "")"
        }
        if let account = user ?? digest { return "user \(Self.name(of: account))" }
        if let token { return "token \(token)" }
        if let account = Self.variable(Self.userVariable) ?? Self.variable(Self.digestVariable) {
            return "user \(Self.name(of: account))"
        }
        return Self.variable(Self.tokenVariable).map { "token \($0)" }
    }

    private static func name(of account: String) -> Substring { account.prefix { $0 != ":" } }
}
