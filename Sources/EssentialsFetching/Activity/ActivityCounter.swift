import EssentialsHTTP
public import EssentialsRequests
import EssentialsTools

/// The number of requests that run, such as for an activity indicator.
///
/// ```swift
/// let activity = ActivityCounter()
/// let requests = activity.counting(HTTPDataRequestService(environment: environment, transport: transport))
/// // Give `requests` to all services that send requests. Then:
/// for await count in activity.counts { indicator.isShown = count > 0 }
/// ```
///
/// A request runs from the call until its response is there with the whole body, or until its streamed body was read, has
/// failed or was released. It counts once, however many redirects and attempts it takes. A call whose request is shared
/// with others counts like any other. The number is never negative, and is 0 again after every end: success, failure,
/// cancellation and shutdown.
///
/// One counter can count several services, whose sum it then has; use one for each if they are to be told apart. It wraps
/// services and is not a `RequestInterceptor`, because interceptors are not called for cancelled requests, for requests to
/// foreign servers and for those that fail before they are sent, and see each redirect as an outcome of its own. A counter
/// can be used from any thread.
public final class ActivityCounter: Sendable {
    private let running = Mutex(0)
    private let signals = ChangeSignals()

    /// Creates a counter at 0.
    public init() {}

    /// The number of requests that run.
    public var count: Int { running.withLock { $0 } }

    /// The numbers: the present one, then each that differs from the one before.
    ///
    /// ```swift
    /// for await count in activity.counts { show(count) }
    /// ```
    ///
    /// A reader that is slower than the changes finds only the newest number. There can be any number of readers. The
    /// sequence ends when the calling task is cancelled.
    public var counts: ValueSequence<Int> {
        ValueSequence(of: { self.count }, isSame: ==, showing: { $0 }, observing: signals.place)
    }

    /// A service whose requests are counted. It sends them with another service, which stays the one to be shut down and
    /// the authorization service.
    public func counting(_ requests: any DataRequestService) -> any DataRequestService {
        CountingRequests(next: requests, counter: self)
    }

    /// Counts other work, such as a transfer that no service of this package makes, until the activity ends.
    public func begin() -> Activity {
        change(by: 1)
        return Activity(self)
    }

    fileprivate func change(by difference: Int) {
        running.withLock { $0 += difference }
        signals.raise()
    }

    /// Work that counts until it ends or is released.
    ///
    /// ```swift
    /// let activity = counter.begin()
    /// defer { activity.end() }
    /// ```
    public final class Activity: Sendable {
        private let counter: ActivityCounter
        private let hasEnded = Atomic(false)

        fileprivate init(_ counter: ActivityCounter) { self.counter = counter }

        deinit { end() }

        /// Ends the activity. Further calls do nothing.
        public func end() {
            guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
            counter.change(by: -1)
        }
    }
}
