/// A failed attempt, as the closure of ``RetryPolicy/deciding(_:)`` receives it.
public struct RetryCandidate: Sendable {
    /// The method of the request, which a redirect may have changed.
    public let method: HTTPRequest.Method
    /// The URL of the request. It may contain secrets in its query.
    public let url: RequestURL
    /// The failure of the attempt. For a response it is the failure `status`, without the response's body.
    public let failure: RequestFailure
    /// The number of the failed attempt, from 1.
    public let attempt: Int
    /// The wait before the next attempt according to the rules.
    public let wait: Duration
    /// Whether the rules allow a retry.
    public let isRetriable: Bool

    /// Creates a candidate, for tests of a closure.
    public init(
        method: HTTPRequest.Method = .get, url: RequestURL, failure: RequestFailure, attempt: Int = 1,
        wait: Duration = .zero, isRetriable: Bool = true
    ) {
        self.method = method
        self.url = url
        self.failure = failure
        self.attempt = attempt
        self.wait = wait
        self.isRetriable = isRetriable
    }
}

extension RetryCandidate: CustomReflectable {
    /// The properties for debuggers, `print` and `dump`, without the query of the URL.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "method": method, "url": url.redacted, "failure": failure, "attempt": attempt, "wait": wait,
                "isRetriable": isRetriable,
            ])
    }
}

/// The decision of the closure of ``RetryPolicy/deciding(_:)``.
public enum RetryDecision: Sendable, Hashable {
    /// The rules decide.
    case standard
    /// The request is retried after the wait of the rules, if the limits of the policy allow it.
    case retry
    /// The request is retried after at least this time, if the limits of the policy allow it.
    case retryAfter(Duration)
    /// The request is not retried.
    case stop
}
