public import EssentialsHTTP

/// The weakest Digest challenge that credentials answer (RFC 7616).
///
/// ```swift
/// requests.setAuthorization(try .digest(user: "ada", password: "…", minimum: DigestMinimum(.sha256)))
/// ```
///
/// Without TLS, anyone on the path can pose as the server, choose the challenge and try passwords against the answer.
/// Without `qop` the answer contains nothing that the client has chosen, so precomputed tables can reveal the password
/// (RFC 7616, 5.12). The default is therefore ``any`` over `https`. Over `http` it is `DigestMinimum(.md5)`, which
/// requires `qop`.
///
/// If no challenge of a 401 reaches the minimum, the request fails as `authorization`, and no answer is sent.
public struct DigestMinimum: Sendable, Hashable {
    /// The weakest hash function. From weak to strong they are MD5, SHA-256 and SHA-512/256; a `-sess` variant counts
    /// as its function.
    public var algorithm: DigestHash.Function
    /// Whether the challenge has to name a `qop`, which challenges of RFC 2069 do not.
    public var requiresQop: Bool

    /// Creates a minimum.
    public init(_ algorithm: DigestHash.Function, requiresQop: Bool = true) {
        self.algorithm = algorithm
        self.requiresQop = requiresQop
    }

    /// Every known challenge, down to MD5 without `qop`.
    public static let any = DigestMinimum(.md5, requiresQop: false)

    /// The default minimum for a URL scheme.
    static func standard(for scheme: Origin.Scheme) -> DigestMinimum {
        switch scheme {
        case .https: any
        case .http: DigestMinimum(.md5)
        }
    }

    /// Whether a challenge is at least as strong as this minimum.
    func allows(_ challenge: DigestChallenge) -> Bool {
        guard let function = challenge.algorithm?.function, function.rawValue >= algorithm.rawValue else {
            return false
        }
        return !requiresQop || !challenge.protections.contains(.plain)
    }
}

extension DigestMinimum: CustomStringConvertible {
    /// The minimum as text, such as “SHA-256 with qop”.
    public var description: String { "\(algorithm.name) \(requiresQop ? "with" : "with or without") qop" }
}

extension DigestHash.Function {
    /// The name of the function in challenges (RFC 7616, 6.1).
    var name: String {
        switch self {
        case .md5: "MD5"
        case .sha256: "SHA-256"
        case .sha512Over256: "SHA-512-256"
        }
    }
}
