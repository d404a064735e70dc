import EssentialsHTTP

/// The total deadline of a request that is sent several times: each sending gets what is left of it.
///
/// A request without one costs no look at the clock.
struct SharedDeadline: Sendable {
    private let elapsed: (@Sendable () -> Duration)?

    /// Begins to count.
    @inline(__always)
    init(of request: TransportRequest, clock: @autoclosure () -> any Clock<Duration>) {
        let options = request.options
        elapsed = options.isStandard || options.totalTimeout == nil ? nil : Self.stopwatch(clock())
    }

    /// The next request with what is left.
    ///
    /// - Parameters:
    ///   - request: Has the whole deadline among its options.
    ///   - between: Two of what, for the failure of a task that was cancelled.
    ///   - after: What has happened so far, for the failure of a deadline that has passed.
    /// - Throws: `cancelled` and `timeout`.
    func limited(
        _ request: TransportRequest, between: @autoclosure () -> String, after: @autoclosure () -> String
    ) throws(RequestFailure) -> TransportRequest {
        let host = request.url.origin.host.text
        guard !Task.isCancelled else {
            throw RequestFailure(.cancelled, "The request was cancelled between \(between()).", host: host)
        }
        guard let total = request.options.totalTimeout, let elapsed = elapsed?() else { return request }
        guard elapsed < total else {
            throw RequestFailure(
                .timeout, "The exchange was not over within \(total); \(after()).", host: host)
        }
        var limited = request
        limited.options.totalTimeout = total - elapsed
        return limited
    }

    private static func stopwatch<Time: Clock>(_ clock: Time) -> @Sendable () -> Duration
    where Time.Duration == Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
