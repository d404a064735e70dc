/// When a resource is loaded again by itself, as long as somebody observes it.
///
/// ```swift
/// try service.configure("/prices") { $0.refresh = .every(.seconds(5), jitter: 0.1) }
/// for await state in prices.states(loading: .ifNeeded, refreshing: .every(.seconds(1))) { draw(state.content) }
/// ```
///
/// The interval begins when a load of the resource has ended, whoever started it, and content that is older is loaded at
/// once. Of the resource's configuration and its observers the least interval counts. Each failed load doubles the pause,
/// up to eight times the interval, and a success ends that. The `Retry-After` of a failure counts, for at most an hour, if it
/// is longer. Nothing is loaded without an observer, or while the
/// reachability service says that there is no route. Observers that come and go do not restart the interval.
///
/// The loads send `Cache-Control: max-age=0`
/// ([RFC 9111, 5.2.1.1](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1.1)), and `no-cache` for an invalid resource.
/// All resources of a service share one timer.
public struct ResourceRefresh: Sendable {
    let schedule: RefreshSchedule
    /// Says after a load that no further one is needed.
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
    ///   - jitter: The part of the pause, from 0 to 1, by which it is lengthened at random, so that many clients do not
    ///     load at the same time.
    ///   - isDone: A rule that is called after each load that has changed the state, on any thread and without a lock. If
    ///     it returns `true` in the configuration, the resource is not loaded regularly any more, until its configuration
    ///     is computed again. The rule of an observer ends the interval of this observer only.
    public static func every(
        _ interval: Duration, jitter: Double = 0, until isDone: (@Sendable (AnyResource) -> Bool)? = nil
    ) -> ResourceRefresh {
        ResourceRefresh(schedule: RefreshSchedule(every: interval, jitter: jitter), isDone: isDone)
    }
}
