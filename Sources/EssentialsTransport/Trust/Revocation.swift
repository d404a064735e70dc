/// How a trust policy checks whether a certificate was revoked.
///
/// Nothing is fetched: the evidence comes from the server or from the program. Both methods are cheap, and neither
/// discloses to a third party which servers the program connects to.
public enum Revocation: Sendable, Hashable {
    /// Revocation is not checked.
    case none
    /// Uses the OCSP response that the server staples to its handshake (RFC 6066, section 8; RFC 6960). The
    /// connection is refused if the response reports a revocation, has expired, or is not signed by the issuer, and, with
    /// `isRequired`, if there is none.
    case stapled(isRequired: Bool)
    /// Uses these certificate revocation lists in PEM form (RFC 5280, section 5). The chain is refused unless there is
    /// an unexpired list of every authority in it. It is also refused if it ends at an anchor that another authority
    /// signed, or if a self-signed server has no list signed by itself. Delta lists, lists for some reasons only, and
    /// lists about certificates of other issuers are refused with `invalidPolicy` when the policy is compiled.
    case lists([PEM])
}
