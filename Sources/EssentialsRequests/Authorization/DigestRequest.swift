import EssentialsHTTP

/// The parts of a request from which a Digest answer is computed.
struct DigestRequest: Sendable {
    let method: HTTPRequest.Method
    /// The path and the query as they are sent (RFC 7616, 3.4, `uri`).
    let target: String
    private let body: RequestBody

    /// - Parameter body: The request's body without progress reporting, which would turn bytes into a stream.
    init(_ method: HTTPRequest.Method, target: String, body: RequestBody) {
        self.method = method
        self.target = target
        self.body = body
    }

    /// The simplest protection of a challenge that this request supports; `nil` if it supports none.
    func protection(for challenge: DigestChallenge) -> DigestChallenge.Protection? {
        // A session's key is derived from the cnonce, which an answer without `qop` does not have.
        let isSession = challenge.algorithm?.isSession == true
        return challenge.protections.first { protection in
            switch protection {
            case .plain: !isSession
            case .authentication: true
            case .integrity: !body.isStream
            }
        }
    }

    /// The bytes of the body; `nil` for a body that is read only while it is sent.
    var bodyBytes: [UInt8]? {
        switch body.content {
        case .none: []
        case .bytes(let data): Array(data)
        case .stream: nil
        }
    }
}
