extension RequestFailure {
    /// The kind of a failure. New reasons may be added: compare with `==`, and handle unknown ones.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        private enum Code: String, Sendable, CaseIterable {
            case invalidRequest, invalidPolicy, nameResolution, connection, proxy, tls, trustChain, trustHost
            case pinMismatch, unexpectedPeer, otherTrust, tlsTooOld, trustEvidence, revoked, hostRefused
            case plaintextRefused, timeout, cancelled, interrupted, protocolViolation, tooLarge, redirectLimit
            case redirectRefused, notReplayable, status, emptyBody, encoding, decoding, file, queueFull, closed
            case resources, authorization, circuitOpen, notCached
        }

        private let code: Code

        /// A stable name such as `pinMismatch`, for logs, metrics and scripts.
        public var name: String { code.rawValue }
        /// The stable name, for logs.
        public var description: String { name }

        /// All reasons of this version.
        public static let all: [Reason] = Code.allCases.map { Reason(code: $0) }

        /// The request is invalid: its URL, a header field, or a combination of options.
        public static let invalidRequest = Reason(code: .invalidRequest)
        /// A trust policy is invalid: a pin, an anchor, or a client identity.
        public static let invalidPolicy = Reason(code: .invalidPolicy)
        /// The host name could not be resolved to an address.
        public static let nameResolution = Reason(code: .nameResolution)
        /// No connection could be opened.
        public static let connection = Reason(code: .connection)
        /// The proxy refused or failed.
        public static let proxy = Reason(code: .proxy)
        /// The TLS handshake failed for a reason other than trust.
        public static let tls = Reason(code: .tls)
        /// The certificate chain does not lead to an anchor, or one of its certificates is not valid.
        public static let trustChain = Reason(code: .trustChain)
        /// The certificate is not for this host.
        public static let trustHost = Reason(code: .trustHost)
        /// The chain is valid but contains none of the pinned keys or certificates.
        public static let pinMismatch = Reason(code: .pinMismatch)
        /// The connection leads to another peer than the requested one.
        public static let unexpectedPeer = Reason(code: .unexpectedPeer)
        /// A pooled or resumed connection was created under another trust policy.
        public static let otherTrust = Reason(code: .otherTrust)
        /// The connection's TLS version is below the policy's minimum.
        public static let tlsTooOld = Reason(code: .tlsTooOld)
        /// A connection has no verified information about its peer.
        public static let trustEvidence = Reason(code: .trustEvidence)
        /// A certificate was revoked. If only the proof of its validity is missing, the reason is `trustChain`.
        public static let revoked = Reason(code: .revoked)
        /// The policy does not list this host, or the next page of a list is at another origin.
        public static let hostRefused = Reason(code: .hostRefused)
        /// The URL uses `http` although the policy requires a verified peer.
        public static let plaintextRefused = Reason(code: .plaintextRefused)
        /// A timeout expired.
        public static let timeout = Reason(code: .timeout)
        /// The request was cancelled by its task, its token or a shutdown.
        public static let cancelled = Reason(code: .cancelled)
        /// The peer closed the connection before the exchange was complete.
        public static let interrupted = Reason(code: .interrupted)
        /// The peer violated the HTTP protocol.
        public static let protocolViolation = Reason(code: .protocolViolation)
        /// A body or head exceeds its limit.
        public static let tooLarge = Reason(code: .tooLarge)
        /// The number of redirects exceeds the limit.
        public static let redirectLimit = Reason(code: .redirectLimit)
        /// A redirect was refused by the policy.
        public static let redirectRefused = Reason(code: .redirectRefused)
        /// The body would have to be sent again, but it cannot be replayed.
        public static let notReplayable = Reason(code: .notReplayable)
        /// There is nothing to authorize the request with: all challenges of the server are weaker than the credentials
        /// allow, or there is no access token.
        public static let authorization = Reason(code: .authorization)
        /// The status is not among the expected ones.
        public static let status = Reason(code: .status)
        /// A body was expected, but the response has none.
        public static let emptyBody = Reason(code: .emptyBody)
        /// The body could not be encoded from its model.
        public static let encoding = Reason(code: .encoding)
        /// The body could not be decoded as the requested model.
        public static let decoding = Reason(code: .decoding)
        /// A file could not be read or written.
        public static let file = Reason(code: .file)
        /// The queue of waiting requests is full.
        public static let queueFull = Reason(code: .queueFull)
        /// So many requests to the origin have failed that no more are sent for some time. `underlying` is a
        /// ``CircuitOpen``.
        public static let circuitOpen = Reason(code: .circuitOpen)
        /// The request accepts only a stored response (`only-if-cached`,
        /// [RFC 9111, 5.2.1.7](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1.7)), and there is none. No server was
        /// asked.
        public static let notCached = Reason(code: .notCached)
        /// There was no memory, file descriptor or thread.
        public static let resources = Reason(code: .resources)
        /// The transport or service was shut down.
        public static let closed = Reason(code: .closed)
    }
}

extension RequestFailure.Reason {
    /// What to try, if the failure itself has no more specific remedy. `nil` if nothing helps.
    public var remedy: String? {
        switch code {
        case .invalidRequest: "Correct the request; nothing was sent."
        case .invalidPolicy: "Correct the trust policy; nothing was sent."
        case .nameResolution: "Check the host's spelling and this machine's name service."
        case .connection: "Check that the server is running and that its port can be reached from here."
        case .proxy: "Check the proxy's address, credentials and rules."
        case .tls:
            "Check that the port speaks TLS, which ciphers it offers, and whether it requires a client certificate."
        case .trustChain:
            "If the server uses a private authority, add it as an anchor; otherwise have the server's chain corrected."
        case .trustHost: "Use a name that the certificate lists, or have the certificate reissued for this one."
        case .pinMismatch: "If the server changed its key on purpose, add the new pin; otherwise treat it as an attack."
        case .unexpectedPeer: "Check where redirects, proxies and address overrides lead."
        case .otherTrust: "Create a separate transport for this policy."
        case .tlsTooOld: "Have the server offer a TLS version that the policy allows."
        case .trustEvidence: "Send the request again; if that fails too, update libcurl and OpenSSL."
        case .revoked: "Have a new certificate issued for the server, and treat the old key as stolen."
        case .hostRefused: "Add a rule for the host to the policy if it should be reached."
        case .plaintextRefused: "Use https, or a policy without pins for this host."
        case .timeout: "Try again, or allow more time."
        case .cancelled: nil
        case .interrupted: "Try again if the request may be repeated; the server may have acted on it."
        case .protocolViolation: "Report it to the operators of the server."
        case .tooLarge: "Raise the limit if this size is expected."
        case .redirectLimit: "Check the server for a redirect loop, or allow more redirects."
        case .redirectRefused: "Request the target directly if you trust it."
        case .notReplayable: "Send the body from memory or a file, which can be read again."
        case .authorization: "Have the server offer a stronger challenge, or allow a weaker one."
        case .status: "Look for the server's explanation in the response's body."
        case .emptyBody: "Use an optional model type if the server may send an empty body."
        case .encoding: "Check that the model can be encoded."
        case .decoding: "Compare the model with the response's body."
        case .file: "Check the path and its permissions."
        case .queueFull: "Send fewer requests at once, or allow a longer queue."
        case .circuitOpen: "Try again after some time; the server seems to be down."
        case .notCached: "Send the request with another cache policy, so that the server is asked."
        case .resources: "Free some memory, or raise the limits of open files and threads."
        case .closed: "Create a new transport or service."
        }
    }
}

extension RequestFailure.Reason {
    /// One sentence for the users of an application, in English and without technical terms. It is the same for all
    /// failures with this reason; `RequestFailure.summary` is more specific.
    public var summary: String {
        switch code {
        case .invalidRequest, .encoding, .notReplayable: "The request could not be created."
        case .invalidPolicy: "The security settings of this application are invalid."
        case .nameResolution: "The server could not be found."
        case .connection: "The server could not be reached."
        case .proxy: "The network's proxy refused the request."
        case .tls, .tlsTooOld, .trustEvidence, .otherTrust: "No secure connection to the server could be opened."
        case .trustChain, .trustHost, .pinMismatch, .unexpectedPeer, .revoked:
            "The server could not prove its identity."
        case .hostRefused: "This server is not allowed."
        case .plaintextRefused: "A connection without encryption is not allowed."
        case .timeout: "The server took too long to respond."
        case .cancelled: "The request was cancelled."
        case .interrupted: "The connection was lost."
        case .protocolViolation, .emptyBody, .decoding: "The server's response could not be understood."
        case .tooLarge: "The server's response is too large."
        case .redirectLimit, .redirectRefused: "The server redirected the request to a place that is not allowed."
        case .status: "The server's response was not the expected one."
        case .file: "A file could not be read or written."
        case .queueFull, .resources: "Too many requests are running."
        case .authorization: "Signing in to the server failed."
        case .circuitOpen: "The server is not available at the moment."
        case .notCached: "This content was not stored on this machine."
        case .closed: "The application is shutting down."
        }
    }
}
