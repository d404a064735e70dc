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
            FailureKey.reason: reason.name, FailureKey.phase: phase.name,
        ]
        if let remedy { info[NSLocalizedRecoverySuggestionErrorKey] = remedy }
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

/// The error codes of the reasons that have no `legacyCode`. A code is never reused for another reason.
enum ReasonCodes {
    /// The code of a reason that is not listed below.
    static let unknown = 3000

    private static let codes: [RequestFailure.Reason: Int] = [
        .invalidPolicy: 3001, .nameResolution: 3002, .connection: 3003, .proxy: 3004, .tls: 3005, .timeout: 3006,
        .interrupted: 3007, .protocolViolation: 3008, .tooLarge: 3009, .redirectLimit: 3010, .redirectRefused: 3011,
        .notReplayable: 3012, .authorization: 3013, .status: 3014, .resources: 3015,
    ]

    static func code(of reason: RequestFailure.Reason) -> Int { codes[reason] ?? unknown }
}
