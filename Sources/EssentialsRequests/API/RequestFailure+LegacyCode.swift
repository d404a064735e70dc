public import EssentialsHTTP

extension RequestFailure {
    /// The number that the Objective-C library of this name had for such an error: 1000 serialization, 1001 trust,
    /// 1002 cancelled, 1003 submission, 1004 builder, and the status itself for an unexpected one and for `authorization`,
    /// which is a 401. `nil` for a failure for which it had none.
    ///
    /// `file` is 1004 too: that library had a number for files only in the builder, which refused the file of a part.
    /// It passed on other file errors, in downloads or while a file was sent, as Cocoa's or the stream's error in
    /// another domain. Here `underlying` has the system's error number.
    ///
    /// For programs that are moved from there; new ones compare the reason.
    public var legacyCode: Int? {
        switch reason {
        case .encoding, .decoding, .emptyBody: 1000
        case .trustChain, .trustHost, .pinMismatch, .unexpectedPeer, .otherTrust, .tlsTooOld, .trustEvidence, .revoked,
            .hostRefused, .plaintextRefused:
            1001
        case .cancelled: 1002
        case .file: 1004
        case .invalidRequest: underlying is SettingConflict ? 1004 : 1003
        case .closed, .queueFull: 1003
        case .status, .authorization: response?.head.status.code
        default: nil
        }
    }
}
