extension TestCertificate {
    /// Where the private key of a new certificate comes from.
    public enum Key: Sendable, Hashable {
        /// A new EC key on P-256.
        case ec
        /// A new RSA key. 2048 bits take some tens of milliseconds.
        case rsa(Int)
        /// This private key, as PEM: for renewed and cross-signed certificates.
        case existing(String)
    }

    /// A purpose in the extended key usage.
    public enum Usage: Sendable, Hashable {
        /// TLS servers.
        case serverAuth
        /// TLS clients.
        case clientAuth
        /// Signed code: neither of them.
        case codeSigning
        /// OCSP responses.
        case ocspSigning
    }

    /// What a new certificate says.
    public struct Template: Sendable, Hashable {
        /// The subject's common name.
        public var commonName: String
        /// The host names in the subject alternative name; a wildcard is written "*.example.com".
        public var dnsNames: [String]
        /// The IP addresses in the subject alternative name.
        public var ipAddresses: [String]
        /// The start of the validity, in seconds from now.
        public var notBefore: Int64
        /// The end of the validity, in seconds from now.
        public var notAfter: Int64
        /// Where the key comes from.
        public var key: Key
        /// Whether the certificate may issue others.
        public var isCA: Bool
        /// How many authorities may follow below it.
        public var pathLength: Int?
        /// The purposes; empty leaves the extension out.
        public var extendedKeyUsage: [Usage]

        /// A template; valid from a day ago for ten years unless said otherwise.
        public init(
            commonName: String, dnsNames: [String] = ["localhost"], ipAddresses: [String] = ["127.0.0.1"],
            notBefore: Int64 = -86_400, notAfter: Int64 = 3650 * 86_400, key: Key = .ec, isCA: Bool = false,
            pathLength: Int? = nil, extendedKeyUsage: [Usage] = [.serverAuth, .clientAuth]
        ) {
            self.commonName = commonName
            self.dnsNames = dnsNames
            self.ipAddresses = ipAddresses
            self.notBefore = notBefore
            self.notAfter = notAfter
            self.key = key
            self.isCA = isCA
            self.pathLength = pathLength
            self.extendedKeyUsage = extendedKeyUsage
        }

        /// A template for an authority: no names of hosts, no purposes.
        public static func authority(name: String, key: Key = .ec, pathLength: Int? = nil) -> Template {
            Template(
                commonName: name, dnsNames: [], ipAddresses: [], key: key, isCA: true, pathLength: pathLength,
                extendedKeyUsage: [])
        }
    }
}
