/// How a Digest challenge wants its answer computed (RFC 7616, 3.3, `algorithm`).
package struct DigestAlgorithm: Sendable, Hashable {
    package let function: DigestHash.Function
    /// Whether the key is one of the session with the server: the `-sess` variants.
    package let isSession: Bool

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
