import EssentialsHTTP

/// The total deadline of a request with several attempts. Each attempt gets the remaining time.
struct SharedDeadline: Sendable {
    /// No deadline: requests are sent unchanged.
    static let none = SharedDeadline(limit: nil)

    private struct Limit: Sendable {
        let total: Duration
        let elapsed: @Sendable () -> Duration
    }

    private let limit: Limit?

    private init(limit: Limit?) { self.limit = limit }

    /// Starts the time. The clock is not read if the request has no total deadline.
    init(of request: TransportRequest, clock: any Clock<Duration>) {
        limit = request.options.totalTimeout.map { Limit(total: $0.bounded, elapsed: Self.stopwatch(clock)) }
    }

    /// The remaining time; `nil` if there is no deadline.
    var remaining: Duration? { limit.map { max(.zero, $0.total - $0.elapsed()) } }

    /// The request with the remaining time as its total deadline, unless its own is shorter, such as that of an attempt.
    ///
    /// - Parameters:
    ///   - request: The next request to send.
    ///   - between: The previous step and the next one, for the message if the task was cancelled.
    ///   - after: The events so far, for the message if the deadline has passed.
    /// - Throws: `cancelled` and `timeout`.
    func limited(
        _ request: TransportRequest, between: @autoclosure () -> String, after: @autoclosure () -> String
    ) throws(RequestFailure) -> TransportRequest {
        guard !Task.isCancelled else {
            throw RequestFailure(.cancelled, "The request was cancelled between \(between()).", host: request.hostText)
        }
        guard let limit else { return request }
        let elapsed = limit.elapsed()
        guard elapsed < limit.total else {
            throw RequestFailure(
                .timeout, "The exchange did not finish within \(limit.total); \(after()).", host: request.hostText)
        }
        var limited = request
        let remaining = limit.total - elapsed
        limited.options.totalTimeout = min(remaining, request.options.totalTimeout ?? remaining)
        return limited
    }

    private static func stopwatch<Time: Clock>(_ clock: Time) -> @Sendable () -> Duration
    where Time.Duration == Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
