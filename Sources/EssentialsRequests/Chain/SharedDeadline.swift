import EssentialsHTTP

/// The total deadline of a request that is sent several times: each sending gets what is left of it.
struct SharedDeadline: Sendable {
    /// No deadline. Each sending has what its request says.
    static let none = SharedDeadline(limit: nil)

    private struct Limit: Sendable {
        let total: Duration
        let elapsed: @Sendable () -> Duration
    }

    private let limit: Limit?

    private init(limit: Limit?) { self.limit = limit }

    /// Begins to count. Does not read the clock for a request without a total deadline.
    init(of request: TransportRequest, clock: any Clock<Duration>) {
        limit = request.options.totalTimeout.map { Limit(total: $0, elapsed: Self.stopwatch(clock)) }
    }

    /// The request with the time that is left for it.
    ///
    /// - Parameters:
    ///   - request: The next request to be sent.
    ///   - between: The two steps that the request is between, for the failure of a cancelled task.
    ///   - after: What has happened so far, for the failure of a deadline that has passed.
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
                .timeout, "The exchange was not over within \(limit.total); \(after()).", host: request.hostText)
        }
        var limited = request
        limited.options.totalTimeout = limit.total - elapsed
        return limited
    }

    private static func stopwatch<Time: Clock>(_ clock: Time) -> @Sendable () -> Duration
    where Time.Duration == Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
