public import EssentialsHTTP

extension RequestFailure {
    /// The error code of the Objective-C library of this name: 1000 for serialization, 1001 for trust, 1002 for
    /// cancelled, 1003 for submission and 1004 for the builder. An unexpected status is its own code, and
    /// `authorization` is 401. `nil` if that library had no code for the failure.
    ///
    /// `file` is 1004 too. That library had a code for files only in the builder, which refused the file of a part. It
    /// reported other file errors, in downloads and uploads, as errors of Cocoa or of the stream in another domain.
    /// Here `underlying` holds the system's error number.
    ///
    /// This property is for programs that are migrated from that library. New programs compare the reason.
    public var legacyCode: Int? {
        switch reason {
        case .encoding, .decoding, .emptyBody: 1000
        case .trustChain, .trustHost, .pinMismatch, .unexpectedPeer, .otherTrust, .tlsTooOld, .trustEvidence, .revoked,
            .hostRefused, .plaintextRefused:
            1001
        case .cancelled: 1002
        case .file: 1004
        case .invalidRequest: underlying is SettingConflict ? 1004 : 1003
        case .closed, .queueFull, .circuitOpen, .notCached: 1003
        case .status, .authorization: response?.head.status.code
        default: nil
        }
    }
}
