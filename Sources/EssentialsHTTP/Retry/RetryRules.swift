/// Which failed attempts may be followed by another one. The rules depend on the outcome and the request alone.
package enum RetryRules {
    /// The result of an attempt that was not a success.
    package enum Outcome: Sendable {
        /// A response with this status, and the delay that its `Retry-After` requests.
        case status(Int, retryAfter: Duration?)
        case failure(RequestFailure)
    }

    /// Outcomes that are retried at most once for each hop, because another attempt would meet the same fate.
    package struct Once: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// 408: the server has closed an idle connection.
        static let requestTimeout = Once(rawValue: 1)
        /// 421: the connection leads to a server that does not serve this origin.
        static let misdirected = Once(rawValue: 2)
        /// 425: the server does not process early data.
        static let tooEarly = Once(rawValue: 4)
        /// The server refused the request without processing it.
        static let refused = Once(rawValue: 8)
    }

    /// The verdict of the rules on an outcome.
    package enum Verdict: Sendable, Hashable {
        /// It is never retried, whatever a closure decides.
        case forbidden
        /// It is not retried unless a closure decides otherwise.
        case notRetried
        /// It can be retried.
        case retried(once: Once)
    }

    /// The statuses that are retried, apart from 500.
    package static func isRetried(_ status: Int) -> Bool {
        switch status {
        case 408, 421, 425, 429, 502, 503, 504: true
        default: false
        }
    }

    /// Returns whether an outcome can be followed by another attempt.
    ///
    /// - Parameters:
    ///   - outcome: The result of the attempt.
    ///   - isIdempotent: Whether the server may process the request twice.
    ///   - retriesInternalServerError: Whether 500 is treated like 503.
    package static func verdict(
        on outcome: Outcome, isIdempotent: Bool, retriesInternalServerError: Bool
    ) -> Verdict {
        switch outcome {
        case .status(let status, _):
            verdict(on: status, isIdempotent: isIdempotent, retriesInternalServerError: retriesInternalServerError)
        case .failure(let failure): verdict(on: failure, isIdempotent: isIdempotent)
        }
    }

    private static func verdict(on status: Int, isIdempotent: Bool, retriesInternalServerError: Bool) -> Verdict {
        switch status {
        // The server has not processed the request.
        case 429: .retried(once: [])
        case 421: .retried(once: .misdirected)
        case 408: isIdempotent ? .retried(once: .requestTimeout) : .notRetried
        case 425: isIdempotent ? .retried(once: .tooEarly) : .notRetried
        case 502, 503, 504: isIdempotent ? .retried(once: []) : .notRetried
        case 500: isIdempotent && retriesInternalServerError ? .retried(once: []) : .notRetried
        default: .notRetried
        }
    }

    private static func verdict(on failure: RequestFailure, isIdempotent: Bool) -> Verdict {
        guard failure.isWorthAnotherAttempt else { return .forbidden }
        switch failure.transmission {
        case .unsent: return .retried(once: [])
        case .refused: return .retried(once: .refused)
        // If the transport does not report it, the request may have been sent. The reason alone does not decide.
        case .sent, nil: return isIdempotent ? .retried(once: []) : .notRetried
        }
    }

    /// Whether the next attempt needs a new connection.
    package static func needsFreshConnection(after outcome: Outcome) -> Bool {
        switch outcome {
        case .status(408, _), .status(421, _): true
        default: false
        }
    }

    /// Whether the outcome says that the next attempt can follow at once, because a new connection is all that it needs.
    /// A refused request is not among these: the transport has already sent it again at once.
    package static func needsNoBackoff(after once: Once) -> Bool { once.contains(.misdirected) }
}
