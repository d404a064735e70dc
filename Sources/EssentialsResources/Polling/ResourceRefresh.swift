/// When a resource is loaded again automatically, as long as it is observed.
///
/// ```swift
/// try service.configure("/prices") { $0.refresh = .every(.seconds(5), jitter: 0.1) }
/// for await state in prices.states(loading: .ifNeeded, refreshing: .every(.seconds(1))) { draw(state.content) }
/// ```
///
/// The interval begins when a load of the resource has ended, regardless of what started it, and content that is older
/// than the interval is loaded at once. The shortest interval of the resource's configuration and its observers counts.
/// Each failed load doubles the pause, up to eight times the interval, until a load succeeds. A longer `Retry-After` of
/// a failure counts, for at most an hour. Nothing is loaded without an observer, or while the reachability service
/// reports that there is no route. Observers that come and go do not restart the interval.
///
/// The loads send `Cache-Control: max-age=0`
/// ([RFC 9111, 5.2.1.1](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1.1)), and `no-cache` for an invalid
/// resource. All resources of a service share one timer.
public struct ResourceRefresh: Sendable {
    let schedule: RefreshSchedule
    /// Returns after a load whether no further load is needed.
    let isDone: (@Sendable (AnyResource) -> Bool)?

    /// Loads the resource regularly.
    ///
    /// ```swift
    /// try service.configure("/jobs/*") {
    ///     $0.refresh = .every(.seconds(2)) { job in
    ///         job.resource(as: Job.self).content?.isFinished == true
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - interval: The pause between the end of a load and the next one, at least 10 milliseconds.
    ///   - jitter: The maximum random extension of the pause, as a fraction from 0 to 1. It keeps many clients from
    ///     loading at the same time.
    ///   - isDone: A rule that is called after each load that has changed the state, on any thread and without a lock.
    ///     If the rule of the configuration returns `true`, the resource is not loaded regularly until its
    ///     configuration is computed again. The rule of an observer ends the interval of this observer only.
    public static func every(
        _ interval: Duration, jitter: Double = 0, until isDone: (@Sendable (AnyResource) -> Bool)? = nil
    ) -> ResourceRefresh {
        ResourceRefresh(schedule: RefreshSchedule(every: interval, jitter: jitter), isDone: isDone)
    }
}
