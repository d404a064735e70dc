/// Keeps the timelines of the calls of a service, for tools and tests.
///
/// ```swift
/// let timelines = RequestTimelines(limit: 50)
/// configuration.observers = [timelines]
/// ```
///
/// A call is recorded from its beginning, so one that had begun before the observer was added is not. While 10,000 calls run, a
/// further one is not recorded.
///
/// It can be used from any thread.
public final class RequestTimelines: RequestObserver {
    private let calls: RecordedCalls

    /// - Parameter limit: The number of calls that have ended whose timelines are kept. The oldest are dropped first.
    public init(limit: Int = 100) { calls = RecordedCalls(limit: max(limit, 0), of: .calls) }

    /// Records a call.
    public func observer(of call: RequestCall) -> any RequestObserver { calls.observer(of: call) }

    /// Adds an event to the timeline of its call.
    public func observe(_ event: RequestEvent) { calls.observe(event) }

    /// The timelines of the last calls that have ended, in the order of their ends.
    public var all: [RequestTimeline] { calls.ended }
    /// The timelines of the calls that are running, in no order.
    public var running: [RequestTimeline] { calls.running }
}
