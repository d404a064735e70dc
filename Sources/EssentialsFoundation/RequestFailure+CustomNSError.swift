import EssentialsRequests
public import EssentialsTransport
public import Foundation

/// What Foundation's error type shows of a failure.
///
/// ```swift
/// let error = NSError(failure)
/// print(error.domain, error.code, error.localizedDescription)
/// ```
extension RequestFailure: CustomNSError {
    /// The domain of all failures.
    public static var errorDomain: String { "ServiceEssentials.RequestFailure" }

    /// The failure's `legacyCode`. A reason without one has a number from 3001 on that never changes, or 3000 if it has
    /// no number.
    public var errorCode: Int { legacyCode ?? ReasonCodes.code(of: reason) }

    /// The message, the remedy, the underlying error, and reason, phase and host under the keys of ``FailureKey``. The
    /// response and the certificates are only in the failure itself.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: message, NSLocalizedFailureReasonErrorKey: reason.name,
            NSLocalizedRecoverySuggestionErrorKey: remedy, FailureKey.reason: reason.name, FailureKey.phase: phase.name,
        ]
        if let host { info[FailureKey.host] = host }
        if let failure = underlying as? RequestFailure {
            info[NSUnderlyingErrorKey] = NSError(failure)
        } else if let underlying {
            info[NSUnderlyingErrorKey] = underlying
        }
        return info
    }
}

/// The keys of a failure's `errorUserInfo` that are not Foundation's.
public enum FailureKey {
    /// The reason's stable name.
    public static let reason = "ServiceEssentials.reason"
    /// The name of the phase in which the request failed.
    public static let phase = "ServiceEssentials.phase"
    /// The host that the request was for; missing for a failure without one.
    public static let host = "ServiceEssentials.host"
}

extension NSError {
    /// A failure as Foundation's error, for interfaces that take no other: Linux has no cast from one to the other.
    public convenience init(_ failure: RequestFailure) {
        self.init(domain: RequestFailure.errorDomain, code: failure.errorCode, userInfo: failure.errorUserInfo)
    }
}
