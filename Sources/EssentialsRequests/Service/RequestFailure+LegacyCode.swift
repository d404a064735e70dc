public import EssentialsHTTP

extension RequestFailure {
    /// The number that the Objective-C library of this name had for such an error: 1000 serialization, 1001 trust,
    /// 1002 cancelled, 1003 submission, 1004 builder, and the status itself for an unexpected one. Nil where it had none.
    ///
    /// For programs that are moved from there; new ones compare the reason.
    public var legacyCode: Int? {
        switch reason {
        case .encoding, .decoding, .emptyBody: 1000
        case .trustChain, .trustHost, .pinMismatch, .unexpectedPeer, .otherTrust, .tlsTooOld, .trustEvidence, .revoked,
            .hostRefused, .plaintextRefused:
            1001
        case .cancelled: 1002
        case .invalidRequest: underlying is SettingConflict ? 1004 : 1003
        case .closed, .queueFull: 1003
        case .status, .authorization: response?.head.status.code
        default: nil
        }
    }
}
