extension HTTPRequest.Method {
    /// Whether processing a request twice has the same effect as once (RFC 9110, 9.2.2).
    package var isIdempotent: Bool {
        switch self {
        case .get, .head, .options, .trace, .put, .delete: true
        default: false
        }
    }

    /// Whether a request changes nothing on the server (RFC 9110, 9.2.1).
    package var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace: true
        default: false
        }
    }
}
