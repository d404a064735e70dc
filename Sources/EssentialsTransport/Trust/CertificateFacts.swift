/// What a trust decision saw of one certificate.
public struct CertificateFacts: Sendable, Hashable {
    /// The subject in RFC 2253's form, in which control, bidirectional and invisible characters are written by their
    /// numbers, such as `\u{202E}`; empty when the connection was an earlier one's and only its pins are known.
    public let subject: String
    /// When it begins to be valid, in seconds since 1970; 0 when unknown.
    public let notBefore: Int64
    /// When it ends, in seconds since 1970; 0 when unknown.
    public let notAfter: Int64
    /// The pin of the whole certificate.
    public let certificatePin: Pin
    /// The pin of its public key.
    public let publicKeyPin: Pin

    /// Makes one from its parts.
    public init(subject: String, notBefore: Int64, notAfter: Int64, certificatePin: Pin, publicKeyPin: Pin) {
        self.subject = subject
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.certificatePin = certificatePin
        self.publicKeyPin = publicKeyPin
    }
}
