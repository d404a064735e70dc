import EssentialsHTTP
public import EssentialsRequests
import EssentialsTools

/// The number of running requests, such as for an activity indicator.
///
/// ```swift
/// let activity = ActivityCounter()
/// let requests = activity.counting(HTTPDataRequestService(environment: environment, transport: transport))
/// // Give `requests` to all services that send requests. Then:
/// for await count in activity.counts { indicator.isShown = count > 0 }
/// ```
///
/// A request counts from the call until its response has arrived with the whole body, or until its streamed body was
/// read, has failed or was released. It counts once, regardless of the number of redirects and attempts. A call whose
/// request is shared with others counts like any other. The number is never negative, and returns to 0 after every end:
/// success, failure, cancellation and shutdown.
///
/// One counter can count several services and then has their sum. Use one counter for each service to distinguish them.
/// A counter wraps services and is not a `RequestInterceptor`, because interceptors are not called for cancelled
/// requests, for requests to foreign servers and for requests that fail before they are sent, and see each redirect as
/// a separate outcome. A counter can be used from any thread.
public final class ActivityCounter: Sendable {
    private let running = Mutex(0)
    private let signals = ChangeSignals()

    /// Creates a counter at 0.
    public init() {}

    /// The number of running requests.
    public var count: Int { running.withLock { $0 } }

    /// The numbers: the current one, then each that differs from the previous one.
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

    /// Returns a service whose requests are counted. It sends them with another service, which is still the one to shut
    /// down, and the authorization service.
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
