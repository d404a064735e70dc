/// The right to one sending under a nonce: its count is nobody else's.
package struct DigestTicket: Sendable, Hashable {
    /// The challenge that is answered.
    package let challenge: DigestChallenge
    /// The challenge's nonce, or one that the server has named since (RFC 7616, 3.5, `nextnonce`).
    package let nonce: [UInt8]
    /// How often the nonce was used, this time included.
    package let count: UInt32
    /// The client's own nonce.
    package let cnonce: String
    /// The nonce with which the session began (RFC 7616, 3.4.2).
    let firstNonce: [UInt8]
}
