extension TestCertificate {
    /// Where the private key of a new certificate comes from.
    public enum Key: Sendable, Hashable {
        /// A new EC key on P-256.
        case ec
        /// A new RSA key with this many bits. Generating 2048 bits takes tens of milliseconds.
        case rsa(Int)
        /// This private key in PEM form, for renewed and cross-signed certificates.
        case existing(String)
    }

    /// A purpose in the extended key usage extension.
    public enum Usage: Sendable, Hashable {
        /// Authentication of a TLS server.
        case serverAuth
        /// Authentication of a TLS client.
        case clientAuth
        /// Code signing, which allows neither of the above.
        case codeSigning
        /// Signing of OCSP responses.
        case ocspSigning
    }

    /// The contents of a new certificate.
    public struct Template: Sendable, Hashable {
        /// The subject's common name.
        public var commonName: String
        /// The host names in the subject alternative name. A wildcard is written as "*.example.com".
        public var dnsNames: [String]
        /// The IP addresses in the subject alternative name.
        public var ipAddresses: [String]
        /// The start of the validity period, in seconds from now.
        public var notBefore: Int64
        /// The end of the validity period, in seconds from now.
        public var notAfter: Int64
        /// The source of the private key.
        public var key: Key
        /// The extended key usage. An empty list leaves the extension out.
        public var extendedKeyUsage: [Usage]
        /// Whether the certificate is an authority that may issue others.
        private(set) var isCA = false
        /// The maximum number of authorities below it. `nil` means no limit.
        private(set) var pathLength: Int?

        /// Creates a template. By default the certificate is valid from one day ago for ten years.
        public init(
            commonName: String, dnsNames: [String] = ["localhost"], ipAddresses: [String] = ["127.0.0.1"],
            notBefore: Int64 = -86_400, notAfter: Int64 = 3650 * 86_400, key: Key = .ec,
            extendedKeyUsage: [Usage] = [.serverAuth, .clientAuth]
        ) {
            self.commonName = commonName
            self.dnsNames = dnsNames
            self.ipAddresses = ipAddresses
            self.notBefore = notBefore
            self.notAfter = notAfter
            self.key = key
            self.extendedKeyUsage = extendedKeyUsage
        }

        /// Creates the template of an authority, without host names or extended key usage.
        public static func authority(name: String, key: Key = .ec, pathLength: Int? = nil) -> Template {
            var template = Template(commonName: name, dnsNames: [], ipAddresses: [], key: key, extendedKeyUsage: [])
            template.isCA = true
            template.pathLength = pathLength
            return template
        }
    }
}
