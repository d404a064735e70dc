internal import CEssentialsTest

/// The TLS settings of a server: its certificates, its protocol versions, and its client authentication.
///
/// ```swift
/// let authority = try TestAuthority(name: "Test CA")
/// let leaf = try authority.issue(TestCertificate.Template(commonName: "localhost"))
/// let server = try LoopbackServer(tls: ServerTLS(certificate: leaf)) { _ in .response(body: "hello") }
/// ```
public struct ServerTLS: Sendable {
    /// A TLS version. The old ones exist so that tests can check that clients refuse them.
    public enum Version: Int32, Sendable, Hashable, Comparable {
        /// TLS 1.0 to 1.3.
        case tls10 = 0x0301, tls11, tls12, tls13

        /// Whether the first version is older.
        public static func < (lhs: Version, rhs: Version) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// How the server authenticates clients.
    public enum ClientAuthentication: Sendable, Hashable {
        /// The server does not request a certificate.
        case none
        /// The server requests a certificate, and accepts and records any.
        case request
        /// The server requires a certificate that is or was signed by the anchor; otherwise the handshake fails.
        case require(anchor: TestCertificate)
    }

    /// How TLS sessions are resumed.
    public enum Resumption: Sendable, Hashable {
        /// With stateless tickets, or from the server's cache for clients without ticket support.
        case tickets
        /// From the server's cache only: session identifiers under TLS 1.2.
        case identifiers
        /// Sessions are not resumed.
        case never
    }

    /// The leaf certificate, whose private key the server uses.
    public var certificate: TestCertificate
    /// The certificates presented after the leaf: exactly these in this order, related or not.
    public var chain: [TestCertificate]
    /// The oldest version that the server accepts.
    public var minimumVersion: Version
    /// The newest version that the server accepts.
    public var maximumVersion: Version
    /// How the server authenticates clients.
    public var clientAuthentication: ClientAuthentication
    /// The ALPN names in the server's order of preference. Without a common name the connection continues without ALPN.
    public var alpn: [String]
    /// How TLS sessions are resumed.
    public var resumption: Resumption
    /// An OCSP response in DER form, sent unchecked to clients that request one (RFC 6066, section
    /// 8). The default is `nil`.
    public var staple: [UInt8]?

    /// Creates the settings. They are validated when a server is created with them.
    public init(
        certificate: TestCertificate, chain: [TestCertificate] = [], minimumVersion: Version = .tls12,
        maximumVersion: Version = .tls13, clientAuthentication: ClientAuthentication = .none,
        alpn: [String] = ["http/1.1"], resumption: Resumption = .tickets, staple: [UInt8]? = nil
    ) {
        self.certificate = certificate
        self.chain = chain
        self.minimumVersion = minimumVersion
        self.maximumVersion = maximumVersion
        self.clientAuthentication = clientAuthentication
        self.alpn = alpn
        self.resumption = resumption
        self.staple = staple
    }

    func makeContext() throws(TestKitError) -> TLSContext {
        var options = cet_options()
        options.minimum_version = minimumVersion.rawValue
        options.maximum_version = maximumVersion.rawValue
        var anchor: String?
        switch clientAuthentication {
        case .none: options.peer_certificate = Int32(CET_PEER_NOT_ASKED)
        case .request: options.peer_certificate = Int32(CET_PEER_ASKED)
        case .require(let certificate):
            options.peer_certificate = Int32(CET_PEER_REQUIRED)
            anchor = certificate.certificatePEM
        }
        switch resumption {
        case .tickets: options.resumption = Int32(CET_RESUME_TICKETS)
        case .identifiers: options.resumption = Int32(CET_RESUME_IDENTIFIERS)
        case .never: options.resumption = Int32(CET_RESUME_NEVER)
        }
        var error = cet_error()
        let presented = ([certificate] + chain).map(\.certificatePEM).joined()
        let context = cet_server_context_create(
            &options, presented, certificate.privateKeyPEM, anchor, alpn.joined(separator: "\n"), &error)
        guard let context else { throw TestKitError(error, fallback: "No TLS context.") }
        if let staple, !cet_context_set_staple(context, staple, staple.count) {
            cet_context_free(context)
            throw TestKitError("No memory for the OCSP response.")
        }
        return TLSContext(context)
    }
}

/// The TLS context shared by a server's connections.
///
/// `@unchecked Sendable`: the pointer never changes, OpenSSL synchronizes access to the context, and the context is
/// freed only with the last reference to this object.
final class TLSContext: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes ownership of the C context.
    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        cet_context_free(pointer)
    }
}
