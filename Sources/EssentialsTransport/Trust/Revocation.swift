/// How a policy learns that a certificate was revoked.
///
/// Nothing is fetched: what is looked at comes from the server or from the program. Both ways cost little, and neither
/// tells a third party whom the program talks to.
public enum Revocation: Sendable, Hashable {
    /// Not at all.
    case none
    /// From the OCSP response that the server staples to its handshake (RFC 6066, 8; RFC 6960). One that says revoked, that
    /// has expired, or that the issuer did not sign is refused. So is a server that staples none, if `isRequired`.
    case stapled(isRequired: Bool)
    /// From these certificate revocation lists (RFC 5280, 5), in PEM form. There must be a list of every authority in a
    /// chain, and none may have expired: else the chain is refused. So is a chain that ends at an anchor which another
    /// authority signed, and a self-signed server that signs no list for itself. A list of changes (delta), of some
    /// reasons, or about other issuers' certificates is `invalidPolicy` when the policy is compiled.
    case lists([PEM])
}
