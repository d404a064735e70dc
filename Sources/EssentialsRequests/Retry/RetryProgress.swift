import EssentialsHTTP

/// The retries of a request so far, over all its hops.
struct RetryProgress: Sendable {
    /// The maximum number of earlier failures that a failure contains.
    static let maximumFailures = 8

    /// The number of retries.
    private(set) var count = 0
    /// When the first attempt began, on the clock of the service; `nil` if no stage needs it.
    var firstAttempt: Duration?
    /// The failures of earlier attempts, oldest first.
    private var failures: [RequestFailure] = []

    /// The number of the current attempt, from 1.
    var attempt: Int { count + 1 }

    /// Counts a retry and keeps the failure before it. If there are too many, the second one is dropped: the first one
    /// shows how it began, and the last ones how it went on.
    mutating func retry(after failure: RequestFailure) {
        count += 1
        if failures.count == Self.maximumFailures { failures.remove(at: 1) }
        failures.append(failure)
    }

    /// The failure of the request, with its attempts.
    func completed(_ failure: RequestFailure) -> RequestFailure {
        guard count > 0 else { return failure }
        return failure.changed { content in
            content.attempt = attempt
            content.earlier = failures
        }
    }
}
