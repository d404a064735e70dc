extension RequestFailure {
    /// What kind of failure it is. New reasons may be added; compare with `==`, and keep a default.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        private enum Code: String, Sendable, CaseIterable {
            case invalidRequest, invalidPolicy, nameResolution, connection, proxy, tls, trustChain, trustHost
            case pinMismatch, unexpectedPeer, otherTrust, tlsTooOld, trustEvidence, revoked, hostRefused
            case plaintextRefused, timeout, cancelled, interrupted, protocolViolation, tooLarge, redirectLimit
            case redirectRefused, notReplayable, status, emptyBody, encoding, decoding, file, queueFull, closed
            case resources, authorization
        }

        private let code: Code

        /// A stable name such as `pinMismatch`, for logs, metrics and scripts.
        public var name: String { code.rawValue }
        /// The text that logs show.
        public var description: String { name }

        /// Every reason there is in this version.
        public static let all: [Reason] = Code.allCases.map { Reason(code: $0) }

        /// The request itself is wrong: its URL, a header, a combination of options.
        public static let invalidRequest = Reason(code: .invalidRequest)
        /// A trust policy is wrong: a pin, an anchor, a client identity.
        public static let invalidPolicy = Reason(code: .invalidPolicy)
        /// The host's name has no address.
        public static let nameResolution = Reason(code: .nameResolution)
        /// No connection could be opened.
        public static let connection = Reason(code: .connection)
        /// The proxy refused or failed.
        public static let proxy = Reason(code: .proxy)
        /// The TLS handshake failed for a reason that is not about trust.
        public static let tls = Reason(code: .tls)
        /// The certificate chain does not lead to an anchor, or a certificate in it is not valid.
        public static let trustChain = Reason(code: .trustChain)
        /// The certificate is not for this host.
        public static let trustHost = Reason(code: .trustHost)
        /// The chain is valid and holds none of the pinned keys or certificates.
        public static let pinMismatch = Reason(code: .pinMismatch)
        /// The connection leads to another peer than the one asked for.
        public static let unexpectedPeer = Reason(code: .unexpectedPeer)
        /// A pooled or resumed connection was made under another trust policy.
        public static let otherTrust = Reason(code: .otherTrust)
        /// The connection's TLS version is below the policy's floor.
        public static let tlsTooOld = Reason(code: .tlsTooOld)
        /// A connection carries no proof of whom it leads to.
        public static let trustEvidence = Reason(code: .trustEvidence)
        /// A certificate was revoked. Where only the proof is missing that it was not, it is `trustChain`.
        public static let revoked = Reason(code: .revoked)
        /// The policy does not list this host.
        public static let hostRefused = Reason(code: .hostRefused)
        /// The URL is `http` where the policy demands a verified peer.
        public static let plaintextRefused = Reason(code: .plaintextRefused)
        /// A deadline passed.
        public static let timeout = Reason(code: .timeout)
        /// The request was cancelled, by its task, its token or a shutdown.
        public static let cancelled = Reason(code: .cancelled)
        /// The peer closed the connection before the exchange was whole.
        public static let interrupted = Reason(code: .interrupted)
        /// The peer sent what HTTP does not allow.
        public static let protocolViolation = Reason(code: .protocolViolation)
        /// A body or head is over its limit.
        public static let tooLarge = Reason(code: .tooLarge)
        /// More redirects than allowed.
        public static let redirectLimit = Reason(code: .redirectLimit)
        /// A redirect that the policy does not follow.
        public static let redirectRefused = Reason(code: .redirectRefused)
        /// The body would have to be sent again and cannot be.
        public static let notReplayable = Reason(code: .notReplayable)
        /// The server's challenges are all weaker than the credentials allow, so that none was met.
        public static let authorization = Reason(code: .authorization)
        /// The status is not among the expected ones.
        public static let status = Reason(code: .status)
        /// A body was expected and none came.
        public static let emptyBody = Reason(code: .emptyBody)
        /// The body to be sent could not be made from its model.
        public static let encoding = Reason(code: .encoding)
        /// The body that came could not be read as the model asked for.
        public static let decoding = Reason(code: .decoding)
        /// A file could not be read or written.
        public static let file = Reason(code: .file)
        /// Too many requests wait already.
        public static let queueFull = Reason(code: .queueFull)
        /// There was no memory, file descriptor or thread.
        public static let resources = Reason(code: .resources)
        /// The transport or service was shut down.
        public static let closed = Reason(code: .closed)
    }
}

extension RequestFailure.Reason {
    /// What to try, where the failure itself says nothing more exact.
    public var remedy: String {
        switch code {
        case .invalidRequest: "Correct the request; nothing was sent."
        case .invalidPolicy: "Correct the trust policy; nothing was sent."
        case .nameResolution: "Check the host's spelling and this machine's name service."
        case .connection: "Check that the server runs and that its port can be reached from here."
        case .proxy: "Check the proxy's address, credentials and rules."
        case .tls:
            "Check which TLS versions and ciphers the server offers, and whether it demands a client certificate."
        case .trustChain:
            "If the server belongs to a private authority, name that authority as an anchor; else the server must be mended."
        case .trustHost: "Use a name that the certificate lists, or have the certificate reissued."
        case .pinMismatch: "If the server changed its key on purpose, add the new pin; otherwise treat it as an attack."
        case .unexpectedPeer: "Do not send the request elsewhere; check redirects and proxies."
        case .otherTrust: "Give this policy a transport of its own."
        case .tlsTooOld: "Have the server offer a newer TLS version, or lower the policy's floor to 1.2."
        case .trustEvidence: "Try again on a fresh connection."
        case .revoked: "Have the server's certificate reissued."
        case .hostRefused: "Add a rule for the host to the policy if it should be reached."
        case .plaintextRefused: "Use https, or a policy without pins for this host."
        case .timeout: "Try again, or allow more time."
        case .cancelled: "Nothing; it was asked for."
        case .interrupted: "Try again if the request may be repeated; the server may have acted on it."
        case .protocolViolation: "Report it to those who run the server."
        case .tooLarge: "Raise the limit if so much is expected, or stream the body."
        case .redirectLimit: "Check the server for a redirect loop, or allow more."
        case .redirectRefused: "Request the target itself if it is to be trusted."
        case .notReplayable: "Send the body from memory or a file, which can be read again."
        case .authorization: "Have the server offer a stronger challenge, or allow a weaker one."
        case .status: "See the response's body for the server's reason."
        case .emptyBody: "Ask for an optional model if the server may answer with nothing."
        case .encoding: "Check that the model can be encoded."
        case .decoding: "Compare the model with the response's body."
        case .file: "Check the path and its permissions."
        case .queueFull: "Send fewer requests at once, or allow a longer queue."
        case .resources: "Free some memory, or raise the limits of open files and threads."
        case .closed: "Make a new transport or service."
        }
    }
}
