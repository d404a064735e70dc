/// A certificate authority created in memory, for tests.
///
/// ```swift
/// let authority = try TestAuthority(name: "Test CA")
/// let leaf = try authority.issue(TestCertificate.Template(commonName: "localhost"))
/// // A client that trusts authority.certificate trusts a server with leaf.
/// ```
public struct TestAuthority: Sendable, Hashable {
    /// The authority's self-signed certificate, which clients have to trust.
    public let certificate: TestCertificate

    /// Creates a self-signed authority.
    ///
    /// - Throws: ``TestKitError`` if the key cannot be used or OpenSSL fails.
    public init(name: String, key: TestCertificate.Key = .ec, pathLength: Int? = nil) throws(TestKitError) {
        certificate = try TestCertificate.selfSigned(.authority(name: name, key: key, pathLength: pathLength))
    }

    /// Creates a certificate signed by this authority.
    public func issue(_ template: TestCertificate.Template) throws(TestKitError) -> TestCertificate {
        try certificate.issue(template)
    }

    /// Creates the certificate of an intermediate authority, which can issue certificates itself.
    public func issueAuthority(
        name: String, key: TestCertificate.Key = .ec, pathLength: Int? = nil
    ) throws(TestKitError) -> TestCertificate {
        try certificate.issueAuthority(name: name, key: key, pathLength: pathLength)
    }
}
