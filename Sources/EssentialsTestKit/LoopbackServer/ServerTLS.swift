internal import CEssentialsTest

/// How a server speaks TLS: what it presents, which versions it takes, and what it asks of the client.
///
/// ```swift
/// let authority = try TestAuthority(name: "Test CA")
/// let leaf = try authority.issue(TestCertificate.Template(commonName: "localhost"))
/// let server = try LoopbackServer(tls: ServerTLS(certificate: leaf)) { _ in .response(body: "hello") }
/// ```
public struct ServerTLS: Sendable {
    /// A version of the protocol. The old ones are here for clients to refuse.
    public enum Version: Int32, Sendable, Hashable, Comparable {
        /// TLS 1.0 to 1.3.
        case tls10 = 0x0301, tls11, tls12, tls13

        /// Older is less.
        public static func < (lhs: Version, rhs: Version) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// What the server wants to know about the client.
    public enum ClientAuthentication: Sendable, Hashable {
        /// Nothing.
        case none
        /// A certificate, if there is one; any is accepted and recorded.
        case request
        /// A certificate that this one signed, or this one itself; the handshake fails otherwise.
        case require(anchor: TestCertificate)
    }

    /// How sessions are continued.
    public enum Resumption: Sendable, Hashable {
        /// Stateless tickets, and the server's cache for clients without them.
        case tickets
        /// The server's cache only: session identifiers under TLS 1.2.
        case identifiers
        /// Not at all.
        case never
    }

    /// The leaf, whose private key the server uses.
    public var certificate: TestCertificate
    /// What is presented after the leaf: exactly this, in this order, related or not.
    public var chain: [TestCertificate]
    /// The oldest version that is taken.
    public var minimumVersion: Version
    /// The newest version that is taken.
    public var maximumVersion: Version
    /// What the server wants to know about the client.
    public var clientAuthentication: ClientAuthentication
    /// The ALPN names in the server's order of preference; a client that offers none of them continues without ALPN.
    public var alpn: [String]
    /// How sessions are continued.
    public var resumption: Resumption
    /// An OCSP response in DER form for clients that ask for one (RFC 6066, 8): exactly this, whatever it says. None.
    public var staple: [UInt8]?

    /// Makes a description; it is tried when a server is made of it.
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
        guard let context else { throw TestKitError(CText.string(error.text) ?? "No TLS context.") }
        if let staple, !cet_context_set_staple(context, staple, staple.count) {
            cet_context_free(context)
            throw TestKitError("No memory for the OCSP response.")
        }
        return TLSContext(context)
    }
}

/// What the TLS connections of a server share.
///
/// `@unchecked Sendable`: the pointer never changes, OpenSSL locks its context itself, and the context is freed only
/// with the last reference to this object.
final class TLSContext: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over the C context.
    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        cet_context_free(pointer)
    }
}
