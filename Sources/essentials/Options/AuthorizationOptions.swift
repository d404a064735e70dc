import ArgumentParser
import EssentialsTools
import ServiceEssentials

/// The credentials of a request.
struct AuthorizationOptions: ParsableArguments {
    static let userVariable = "ESSENTIALS_USER"
    static let digestVariable = "ESSENTIALS_DIGEST"
    static let tokenVariable = "ESSENTIALS_BEARER"

    // No option uses a transform, because the parser would print a refused value.

    @Option(
        name: [.customShort("u", allowingJoined: true), .customLong("user")], parsing: .unconditional,
        help: ArgumentHelp(
            "Use Basic authentication, at the URL's own origin only. Other users may see command lines; the variable "
                + "\(userVariable) has the same effect.", valueName: "name:password"))
    var user: String?

    @Option(
        name: .customLong("digest"), parsing: .unconditional,
        help: ArgumentHelp(
            "Use Digest authentication, at the URL's own origin only. The variable \(digestVariable) has the same "
                + "effect.", valueName: "name:password"))
    var digest: String?

    @Flag(
        name: .customLong("weak-digest"),
        help: "Also respond over http to Digest challenges without qop. By default they are refused.")
    var allowsWeakDigest = false

    @Option(
        name: .customLong("bearer"), parsing: .unconditional,
        help: ArgumentHelp(
            "Use this bearer token, at the URL's own origin only. The variable \(tokenVariable) has the same effect.",
            valueName: "token"))
    var token: String?

    // These are no group of their own: in debug builds the parser checks a group again with every check of a group
    // around it.

    @Option(
        name: .customLong("oauth-token-url"),
        help: ArgumentHelp(
            "Get an access token from this OAuth 2.0 token endpoint with client credentials, and use it at the URL's own "
                + "origin only. After a 401, get a new one and send the request once more. The variables "
                + "\(ClientCredentialsGrant.variables[0]) and \(ClientCredentialsGrant.variables[1]) hold the client's "
                + "identifier and secret.", valueName: "url"))
    var tokenURL: String?

    @Option(
        name: .customLong("oauth-scope"),
        help: ArgumentHelp(
            "With --oauth-token-url: the scopes of the token, separated by spaces. (default: the server's default)",
            valueName: "text"))
    var scope: String?

    /// The grant from the options; `nil` without an endpoint.
    var grant: ClientCredentialsGrant? { tokenURL.map { ClientCredentialsGrant(tokenURL: $0, scope: scope) } }

    /// The first of these options on the command line.
    var given: String? { allGiven.first }

    private var allGiven: [String] {
        [
            ("--user", user), ("--digest", digest), ("--bearer", token), ("--oauth-token-url", tokenURL),
        ].compactMap { name, value in value.map { _ in name } }
    }

    func validate() throws {
        if scope != nil, tokenURL == nil { throw ValidationError("--oauth-scope needs --oauth-token-url.") }
        if let scope, ClientCredentialsGrant.scopes(of: scope).isEmpty {
            throw ValidationError("--oauth-scope needs a text.")
        }
        let given = allGiven
        if given.count > 1 { throw ValidationError("Give \(given[0]) or \(given[1]), not both.") }
        for (name, value) in [("--user", user), ("--digest", digest)] {
            if let value, Self.split(value) == nil { throw ValidationError("Write \(name) as name:password.") }
        }
    }

    /// The credentials from the options, or otherwise from the environment variables. `nil` if neither has any. An
    /// empty variable counts as unset.
    ///
    /// - Parameter transport: Sends the requests to a token endpoint.
    func credentials(over transport: any Transport) throws(RequestFailure) -> Credentials? {
        if let grant { return try grant.credentials(over: transport) }
        if let user { return try Self.basic(user, from: "--user") }
        if let digest { return try self.digest(digest, from: "--digest") }
        if let token { return try .bearer(token) }
        let names = [Self.userVariable, Self.digestVariable, Self.tokenVariable]
        let set = names.compactMap { name in Self.variable(name).map { (name: name, value: $0) } }
        guard set.count < 2 else {
            throw RequestFailure(
                .invalidRequest, "Both \(set[0].name) and \(set[1].name) are set.",
                remedy: "Unset one of them, or give --user, --digest, --bearer or --oauth-token-url.")
        }
        guard let (name, value) = set.first else { return nil }
        switch name {
        case Self.userVariable: return try Self.basic(value, from: name)
        case Self.digestVariable: return try digest(value, from: name)
        default: return try .bearer(value)
        }
    }

    /// The name and the password for Digest, from the option or otherwise from the environment variable; `nil` for other
    /// credentials.
    var digestAccount: String? {
        if let digest { return digest }
        return given == nil && Self.variable(Self.userVariable) == nil ? Self.variable(Self.digestVariable) : nil
    }

    private static func basic(_ text: String, from source: String) throws(RequestFailure) -> Credentials {
        let (name, password) = try account(text, from: source)
        return try .basic(user: name, password: password)
    }

    private func digest(_ text: String, from source: String) throws(RequestFailure) -> Credentials {
        let (name, password) = try Self.account(text, from: source)
        return try .digest(user: name, password: password, minimum: allowsWeakDigest ? .any : nil)
    }

    private static func account(
        _ text: String, from source: String
    ) throws(RequestFailure) -> (name: String, password: String) {
        guard let account = split(text) else {
            throw RequestFailure(
                .invalidRequest, "The value of \(source) has no colon.", remedy: "Write it as name:password.")
        }
        return account
    }

    /// Splits at the first colon. The password may contain further colons (RFC 7617, section 2).
    private static func split(_ text: String) -> (name: String, password: String)? {
        let bytes = text.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        return (String(text[..<colon]), String(text[bytes.index(after: colon)...]))
    }

    /// The value of an environment variable; `nil` if it is unset or empty.
    static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
