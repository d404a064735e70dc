import EssentialsTools

/// Keeps the timelines of the calls of a service, for tools and tests.
///
/// ```swift
/// let timelines = RequestTimelines(limit: 50)
/// configuration.observers = [timelines]
/// ```
///
/// It can be used from any thread.
public final class RequestTimelines: RequestObserver {
    private struct State {
        var running: [RequestID: RequestTimeline] = [:]
        var ended = Fifo<RequestTimeline>()
    }

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: The number of calls that have ended whose timelines are kept. The oldest are dropped first.
    public init(limit: Int = 100) { self.limit = max(limit, 0) }

    /// Adds an event to the timeline of its call.
    public func observe(_ event: RequestEvent) {
        let id = event.call.id
        let dropped = state.withLock { state -> RequestTimeline? in
            guard case .ended = event.kind else {
                state.running[id, default: RequestTimeline()].add(event)
                return nil
            }
            var timeline = state.running.removeValue(forKey: id) ?? RequestTimeline()
            timeline.add(event)
            state.ended.append(timeline)
            return state.ended.count > limit ? state.ended.popFirst() : nil
        }
        _ = consume dropped
    }

    /// The timelines of the last calls that have ended, in the order of their ends.
    public var all: [RequestTimeline] { state.withLock { Array($0.ended) } }
    /// The timelines of the calls that are running, in no order.
    public var running: [RequestTimeline] { state.withLock { Array($0.running.values) } }
}
