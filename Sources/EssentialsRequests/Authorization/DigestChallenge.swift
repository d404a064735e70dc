import EssentialsHTTP

/// A server's Digest challenge (RFC 7616, 3.3).
///
/// Its `domain` is not read: the credentials are for their whole origin and for no other.
struct DigestChallenge: Sendable, Hashable {
    /// The parts of a request that an answer protects: the parameter `qop`.
    enum Protection: Sendable, Hashable {
        /// There is no `qop`, as in RFC 2069.
        case plain
        /// `auth`: the method and the URL.
        case authentication
        /// `auth-int`: the method, the URL and the body.
        case integrity
    }

    let realm: [UInt8]
    let nonce: [UInt8]
    let opaque: [UInt8]?
    /// `nil` if the algorithm is unknown.
    let algorithm: DigestAlgorithm?
    /// The name as the server writes it, because some servers compare it literally. `nil` if it is missing, which means
    /// MD5.
    let algorithmName: [UInt8]?
    /// The known protections, the simplest first.
    let protections: [Protection]
    /// Whether the previous answer was correct except for its nonce.
    let isStale: Bool
    /// Whether the server wants a hash of the user name.
    let hashesUser: Bool
    /// Whether the server supports UTF-8.
    let readsUTF8: Bool

    /// Returns `nil` for other schemes, and if the realm or the nonce is missing.
    init?(_ challenge: AuthenticationChallenge) {
        guard challenge.scheme == "digest", let realm = challenge["realm"], let nonce = challenge["nonce"] else {
            return nil
        }
        func word(_ name: String) -> String? {
            challenge[name].map { String(decoding: $0, as: UTF8.self).lowercased() }
        }
        self.realm = realm
        self.nonce = nonce
        opaque = challenge["opaque"]
        algorithmName = challenge["algorithm"]
        algorithm = DigestAlgorithm(algorithmName ?? Array("MD5".utf8))
        let offered = (word("qop") ?? "").split { $0 == "," || $0 == " " || $0 == "\t" }
        var protections: [Protection] = []
        if offered.isEmpty { protections.append(.plain) }
        if offered.contains("auth") { protections.append(.authentication) }
        if offered.contains("auth-int") { protections.append(.integrity) }
        self.protections = protections
        isStale = word("stale") == "true"
        hashesUser = word("userhash") == "true"
        readsUTF8 = word("charset") == "utf-8"
    }

    /// The Digest challenges of a response, in order.
    static func all(in fields: HTTPFields) -> [DigestChallenge] {
        AuthenticationChallenge.all(in: fields).compactMap { DigestChallenge($0) }
    }
}

/// The algorithm of a Digest challenge (RFC 7616, 3.3, `algorithm`).
struct DigestAlgorithm: Sendable, Hashable {
    let function: DigestHash.Function
    /// Whether one key is derived for the session with the server: the `-sess` variants.
    let isSession: Bool

    /// Returns `nil` for an unknown name.
    init?(_ name: [UInt8]) {
        var name = String(decoding: name, as: UTF8.self).lowercased()
        isSession = name.hasSuffix("-sess")
        if isSession { name.removeLast(5) }
        switch name {
        case "md5": function = .md5
        case "sha-256": function = .sha256
        case "sha-512-256": function = .sha512Over256
        default: return nil
        }
    }
}
