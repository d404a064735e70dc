import EssentialsRequests
public import EssentialsTransport
public import Foundation

/// The representation of a failure as Foundation's `NSError`.
///
/// ```swift
/// let error = NSError(failure)
/// print(error.domain, error.code, error.localizedDescription)
/// ```
extension RequestFailure: CustomNSError {
    /// The error domain of all failures.
    public static var errorDomain: String { "ServiceEssentials.RequestFailure" }

    /// The failure's `legacyCode`. Reasons without one have a stable code from 3001 upward, or
    /// 3000 if none is assigned.
    public var errorCode: Int { legacyCode ?? ReasonCodes.code(of: reason) }

    /// The message, the remedy, the underlying error, and the reason, phase and host under the keys of ``FailureKey``.
    /// The response and the certificates are available only from the failure itself.
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

/// The keys of `errorUserInfo` that Foundation does not define.
public enum FailureKey {
    /// The reason's stable name.
    public static let reason = "ServiceEssentials.reason"
    /// The name of the phase in which the request failed.
    public static let phase = "ServiceEssentials.phase"
    /// The host of the request; absent if the failure has none.
    public static let host = "ServiceEssentials.host"
}

extension NSError {
    /// Creates Foundation's error from a failure, for interfaces that require an `NSError`. Linux
    /// cannot cast one to the other.
    public convenience init(_ failure: RequestFailure) {
        self.init(domain: RequestFailure.errorDomain, code: failure.errorCode, userInfo: failure.errorUserInfo)
    }
}
