/// A certificate authority made in memory, for tests.
///
/// ```swift
/// let authority = try TestAuthority(name: "Test CA")
/// let leaf = try authority.issue(TestCertificate.Template(commonName: "localhost"))
/// // A client that trusts authority.certificate trusts a server with leaf.
/// ```
public struct TestAuthority: Sendable, Hashable {
    /// The self-signed certificate of the authority, to be trusted by clients.
    public let certificate: TestCertificate

    /// Makes a self-signed authority.
    ///
    /// - Throws: when the key cannot be used, or OpenSSL fails.
    public init(name: String, key: TestCertificate.Key = .ec, pathLength: Int? = nil) throws(TestKitError) {
        certificate = try TestCertificate.selfSigned(.authority(name: name, key: key, pathLength: pathLength))
    }

    /// Makes a certificate that the authority signed.
    public func issue(_ template: TestCertificate.Template) throws(TestKitError) -> TestCertificate {
        try certificate.issue(template)
    }

    /// Makes a certificate of an authority below this one, which can issue in its turn.
    public func issueAuthority(
        name: String, key: TestCertificate.Key = .ec, pathLength: Int? = nil
    ) throws(TestKitError) -> TestCertificate {
        try certificate.issueAuthority(name: name, key: key, pathLength: pathLength)
    }
}
