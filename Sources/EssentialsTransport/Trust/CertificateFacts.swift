/// The properties of one certificate in a trust decision.
public struct CertificateFacts: Sendable, Hashable {
    /// The subject in the form of RFC 2253. Control, bidirectional and invisible characters are escaped, such as
    /// `\u{202E}`. Empty for a reused connection, whose pins alone are known.
    public let subject: String
    /// The start of the validity period, in seconds since 1970; 0 if unknown.
    public let notBefore: Int64
    /// The end of the validity period, in seconds since 1970; 0 if unknown.
    public let notAfter: Int64
    /// The pin of the certificate.
    public let certificatePin: Pin
    /// The pin of the public key.
    public let publicKeyPin: Pin

    /// Creates a value from its parts.
    public init(subject: String, notBefore: Int64, notAfter: Int64, certificatePin: Pin, publicKeyPin: Pin) {
        self.subject = subject
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.certificatePin = certificatePin
        self.publicKeyPin = publicKeyPin
    }
}
