internal import CEssentialsTest
import EssentialsTools

/// A certificate created in memory together with its private key, for tests.
///
/// ```swift
/// let leaf = try authority.issue(TestCertificate.Template(commonName: "localhost"))
/// leaf.publicKeyPin                // "sha256/…", as a client pins it
/// let intermediate = try authority.issueAuthority(name: "Intermediate")
/// try intermediate.issue(TestCertificate.Template(commonName: "below"))
/// ```
public struct TestCertificate: Sendable, Hashable {
    /// The certificate in PEM form.
    public let certificatePEM: String
    /// The private key in PEM form (PKCS #8, not encrypted).
    public let privateKeyPEM: String
    /// The certificate's DER bytes.
    public let der: [UInt8]
    /// The DER bytes of the certificate's SubjectPublicKeyInfo.
    public let publicKeyDER: [UInt8]
    /// "sha256/" followed by the Base64-encoded SHA-256 digest of `der`.
    public let certificatePin: String
    /// "sha256/" followed by the Base64-encoded SHA-256 digest of `publicKeyDER`.
    public let publicKeyPin: String

    /// Wraps an existing certificate and its key. Whether the two match is checked when a server uses them.
    ///
    /// - Throws: ``TestKitError`` if the certificate cannot be parsed.
    public init(certificatePEM: String, privateKeyPEM: String) throws(TestKitError) {
        guard let der = Self.der(of: certificatePEM, CET_PART_CERTIFICATE),
            let publicKeyDER = Self.der(of: certificatePEM, CET_PART_PUBLIC_KEY),
            let certificatePin = Self.pin(of: certificatePEM, CET_PART_CERTIFICATE),
            let publicKeyPin = Self.pin(of: certificatePEM, CET_PART_PUBLIC_KEY)
        else { throw TestKitError("A certificate could not be read.") }
        self.certificatePEM = certificatePEM
        self.privateKeyPEM = privateKeyPEM
        self.der = der
        self.publicKeyDER = publicKeyDER
        self.certificatePin = certificatePin
        self.publicKeyPin = publicKeyPin
    }

    /// Creates a certificate signed with its own key.
    ///
    /// - Throws: ``TestKitError`` if the key, a name or an address cannot be used.
    public static func selfSigned(_ template: Template) throws(TestKitError) -> TestCertificate {
        try make(template, issuer: nil)
    }

    /// Creates a certificate signed with this certificate's key. Any certificate can issue here, not only authorities,
    /// so that tests can check that clients refuse a certificate issued by an end-entity certificate.
    ///
    /// - Throws: ``TestKitError`` if the key, a name or an address cannot be used.
    public func issue(_ template: Template) throws(TestKitError) -> TestCertificate {
        try Self.make(template, issuer: self)
    }

    /// Creates the certificate of an intermediate authority, which can issue certificates itself.
    public func issueAuthority(
        name: String, key: Key = .ec, pathLength: Int? = nil
    ) throws(TestKitError) -> TestCertificate {
        try issue(.authority(name: name, key: key, pathLength: pathLength))
    }

    // MARK: Creation

    private static func make(_ template: Template, issuer: TestCertificate?) throws(TestKitError) -> TestCertificate {
        let key = try keyPEM(template.key)
        var terms = cet_terms()
        terms.not_before = template.notBefore
        terms.not_after = template.notAfter
        terms.is_authority = template.isCA
        terms.path_length = template.pathLength.map { Int32(clamping: $0) } ?? -1
        terms.usages = template.extendedKeyUsage.reduce(0) { $0 | bit($1) }
        let names = template.dnsNames.map { "DNS:\($0)" } + template.ipAddresses.map { "IP:\($0)" }
        var error = cet_error()
        let text = cet_certificate_create(
            &terms, template.commonName, names.joined(separator: "\n"), key, issuer?.certificatePEM,
            issuer?.privateKeyPEM, &error)
        guard let text else { throw TestKitError(error, fallback: "No certificate.") }
        defer { free(text) }
        return try TestCertificate(certificatePEM: String(cString: text), privateKeyPEM: key)
    }

    private static func keyPEM(_ key: Key) throws(TestKitError) -> String {
        let bits: Int32
        switch key {
        case .existing(let pem): return pem
        case .ec: bits = 0
        case .rsa(let size):
            guard (512...16_384).contains(size) else { throw TestKitError("No RSA key has \(size) bits.") }
            bits = Int32(size)
        }
        var error = cet_error()
        guard let text = cet_key_create(bits, &error) else {
            throw TestKitError(error, fallback: "No private key.")
        }
        defer { free(text) }
        return String(cString: text)
    }

    private static func bit(_ usage: Usage) -> Int32 {
        switch usage {
        case .serverAuth: Int32(CET_USAGE_SERVER)
        case .clientAuth: Int32(CET_USAGE_CLIENT)
        case .codeSigning: Int32(CET_USAGE_CODE_SIGNING)
        case .ocspSigning: Int32(CET_USAGE_OCSP_SIGNING)
        }
    }

    // MARK: Reading

    private static func der(of pem: String, _ part: cet_part) -> [UInt8]? {
        var size = 0
        guard let bytes = cet_certificate_der(pem, part, &size) else { return nil }
        defer { free(bytes) }
        // `size` bytes were written there; they are copied before the memory is freed.
        return Array(UnsafeBufferPointer(start: bytes, count: size))
    }

    private static func pin(of pem: String, _ part: cet_part) -> String? {
        var text = [CChar](repeating: 0, count: Int(CET_PIN_SIZE))
        guard cet_certificate_pin(pem, part, &text) else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension TestCertificate: CustomReflectable {
    /// The pins, for debuggers and `dump`. The private key is left out.
    public var customMirror: Mirror {
        Mirror(self, children: ["certificatePin": certificatePin, "publicKeyPin": publicKeyPin])
    }
}
