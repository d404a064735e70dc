public import EssentialsHTTP
public import EssentialsResources
import EssentialsTools

/// Records the changes of a resource, and compares them with what a test expects.
///
/// ```swift
/// let recorder = ResourceRecorder(cart)
/// try await cart.load()
/// try await recorder.expect(.attached, .requested, .newContent(.network))
/// cart.invalidate()
/// try await recorder.expect(.invalidated)
/// ```
///
/// It observes the resource until it is released. All changes are recorded, in their order, on the threads that make them.
public final class ResourceRecorder<Content: Sendable>: Sendable {
    private final class Log: Sendable {
        let state = Mutex((changes: [ResourceChange<Content>](), expected: 0))
    }

    private let log = Log()
    private let observation: ResourceObservation
    private let name: String

    /// Begins with `attached` and the present state.
    public init(_ resource: Resource<Content>) {
        name = resource.description
        observation = resource.observeSynchronously { [log] change in log.state.withLock { $0.changes.append(change) } }
    }

    /// All changes so far.
    public var changes: [ResourceChange<Content>] { log.state.withLock { $0.changes } }
    /// The events of all changes so far.
    public var events: [ResourceEvent] { changes.map(\.event) }

    /// Waits for the next events, and compares them. Each event is compared once: the next call begins after them.
    ///
    /// - Parameters:
    ///   - events: The events in their order. Failures are compared by their reasons.
    ///   - limit: How long to wait for them, by the system's clock.
    /// - Throws: The differences, if another event came or one did not come.
    public func expect(_ events: ResourceEvent..., within limit: Duration = .seconds(10)) async throws(ResourceMismatch)
    {
        let end = ContinuousClock.now + limit
        while true {
            let found = next(events.count)
            let differences = differences(events, found)
            // A wrong event does not become right by waiting.
            let isWrong = zip(events, found).contains { !$0.equals($1) }
            if differences.isEmpty || isWrong || ContinuousClock.now >= end || Task.isCancelled {
                log.state.withLock { $0.expected += found.count }
                if differences.isEmpty { return }
                throw ResourceMismatch(["The events of \(name) differ:"] + differences)
            }
            await Task.yield()
        }
    }

    /// Checks that no event has come that was not compared yet.
    ///
    /// - Throws: The events.
    public func expectNothingMore() throws(ResourceMismatch) {
        let rest = next(.max)
        guard !rest.isEmpty else { return }
        throw ResourceMismatch(["\(name) had further events:"] + rest.map { "  \($0.shown)" })
    }

    private func next(_ count: Int) -> [ResourceEvent] {
        log.state.withLock { state in state.changes.dropFirst(state.expected).prefix(count).map(\.event) }
    }

    private func differences(_ expected: [ResourceEvent], _ found: [ResourceEvent]) -> [String] {
        guard expected.count != found.count || zip(expected, found).contains(where: { !$0.equals($1) }) else {
            return []
        }
        return expected.indices.map { index in
            let event = expected[index].shown
            guard index < found.count else { return "  \(index + 1): expected \(event), nothing came" }
            return expected[index].equals(found[index])
                ? "  \(index + 1): \(event)" : "  \(index + 1): expected \(event), was \(found[index].shown)"
        }
    }
}

extension ResourceEvent {
    /// The failure of a load with a reason, to compare with.
    public static func failed(reason: RequestFailure.Reason) -> ResourceEvent { .failed(RequestFailure(reason, "")) }

    /// Whether the events are equal, apart from all of a failure except its reason.
    func equals(_ other: ResourceEvent) -> Bool {
        if case .failed(let one) = self, case .failed(let two) = other { return one.reason == two.reason }
        return self == other
    }

    /// The event for a list of differences.
    var shown: String {
        switch self {
        case .failed(let failure):
            failure.message.isEmpty ? "failed(\(failure.reason))" : "failed(\(failure.reason)): \(failure.message)"
        default: "\(self)"
        }
    }
}
