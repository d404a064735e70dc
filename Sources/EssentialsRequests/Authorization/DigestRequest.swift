import EssentialsHTTP

/// What of a request a Digest answer is made of.
struct DigestRequest: Sendable {
    let method: HTTPRequest.Method
    /// Path and query as they are sent (RFC 7616, 3.4, `uri`).
    let target: String
    private let body: RequestBody

    /// - Parameter body: That of the request, before its progress was asked for, which makes a stream of bytes.
    init(_ method: HTTPRequest.Method, target: String, body: RequestBody) {
        self.method = method
        self.target = target
        self.body = body
    }

    /// The easiest of what a challenge offers that this request can do; nil for none of it.
    func protection(for challenge: DigestChallenge) -> DigestChallenge.Protection? {
        // A session key is made of what a request without “qop” does not have.
        let isSession = challenge.algorithm?.isSession == true
        return challenge.protections.first { protection in
            switch protection {
            case .plain: !isSession
            case .authentication: true
            case .integrity: !body.isStream
            }
        }
    }

    /// The body's bytes; nil for one that is read only while it is sent.
    var bodyBytes: [UInt8]? {
        switch body.content {
        case .none: []
        case .bytes(let data): Array(data)
        case .stream: nil
        }
    }
}
