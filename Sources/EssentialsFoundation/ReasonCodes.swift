import EssentialsTransport

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
