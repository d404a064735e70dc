import EssentialsHTTP

/// A server's challenge of the scheme Digest (RFC 7616, 3.3).
///
/// Its `domain` is not read: who is asked is asked in the name of the whole origin, and answers nobody else.
struct DigestChallenge: Sendable, Hashable {
    /// What is protected: the parameter `qop`.
    enum Protection: Sendable, Hashable {
        /// As RFC 2069 has it: there is no `qop`.
        case plain
        /// `auth`: method and URL.
        case authentication
        /// `auth-int`: the body too.
        case integrity
    }

    let realm: [UInt8]
    let nonce: [UInt8]
    let opaque: [UInt8]?
    /// Nil for one that is not known.
    let algorithm: DigestAlgorithm?
    /// As the server writes it: some compare letters. Nil when it names none, which means MD5.
    let algorithmName: [UInt8]?
    /// Those that are known, the easiest first.
    let protections: [Protection]
    /// Whether the answer before this was right but for its nonce.
    let isStale: Bool
    /// Whether the user's name is to be hashed.
    let hashesUser: Bool
    /// Whether the server says that it reads UTF-8.
    let readsUTF8: Bool

    /// Nil for other schemes, and without what each such challenge has: realm and nonce.
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

    /// The Digest challenges of a response, in their order.
    static func all(in fields: HTTPFields) -> [DigestChallenge] {
        AuthenticationChallenge.all(in: fields).compactMap { DigestChallenge($0) }
    }
}

/// How a Digest challenge wants its answer computed (RFC 7616, 3.3, `algorithm`).
struct DigestAlgorithm: Sendable, Hashable {
    let function: DigestHash.Function
    /// Whether the key is one of the session with the server: the `-sess` variants.
    let isSession: Bool

    /// Nil for one that is not known.
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
