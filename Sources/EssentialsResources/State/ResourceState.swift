public import EssentialsHTTP

/// The state of a resource at one moment.
///
/// Reading it has no effect, and it never changes: a later state is another value, with a greater ``version``. Content
/// and failure can exist together, because a failed load keeps the content.
///
/// ```swift
/// let state = shop.cart.state
/// show(state.content, isStale: !state.isFresh, state.failure?.message)
/// ```
public struct ResourceState<Content: Sendable>: Sendable {
    @usableFromInline let snapshot: ResourceSnapshot<Content>
    let time: ServiceTime

    @usableFromInline
    init(snapshot: ResourceSnapshot<Content>, time: ServiceTime) {
        self.snapshot = snapshot
        self.time = time
    }

    private var facts: ResourceFacts { snapshot.facts }

    /// The content; `nil` if nothing was loaded, or if it could not be read as this type.
    @inlinable public var content: Content? { snapshot.content }
    /// The metadata of the content: media type, header fields and times.
    public var entity: Entity? { facts.entity }
    /// Where the content came from; `nil` without content. While ``pending`` is not zero it is `optimistic`.
    public var provenance: Provenance? { facts.provenance.map { pending > 0 ? .optimistic : $0 } }
    /// The number of optimistic changes in the content whose writes have not ended.
    public var pending: Int { Int(facts.pendingLayers) }
    /// Why the last load failed, or why its content could not be read as this type; `nil` after a success.
    public var failure: RequestFailure? { facts.failure ?? snapshot.projectionFailure }
    /// The time since the last load failed; `nil` if it did not fail.
    public var failureAge: Duration? { facts.failureTime.map { time.now - $0 } }
    /// The time since the content was received, confirmed by the server, or set; `nil` without content. It is also
    /// `nil` if the content came from an entity cache and the system's clock was set back after the content was stored.
    public var age: Duration? { facts.contentTime.map { time.now - $0 } }
    /// Whether a load is running.
    public var isLoading: Bool { facts.loads > 0 }
    /// The number of loads that are running.
    public var loads: Int { facts.loads }
    /// The progress of the newest running load, from 0 to 1. It is `nil` if no load is running, if no observer has
    /// requested it (see ``Resource/states(loading:refreshing:reportingProgress:)``), or if the first observer that did
    /// was added after the request was sent. The value 1 appears only with the event ``ResourceEvent/progress(_:)``.
    public var progress: Double? { facts.progress.value }
    /// Whether the content was marked as outdated and has not been loaded since.
    public var isInvalid: Bool { facts.isInvalid }
    /// Whether ``Resource/loadIfNeeded(priority:)`` would send nothing now. The age is measured when this property is
    /// read, so it can become `false` without another change.
    public var isFresh: Bool { facts.freshUntil.map { time.now <= $0 } ?? false }
    /// How long the resource stays fresh; `nil` if it is not fresh now.
    public var freshFor: Duration? {
        guard let end = facts.freshUntil else { return nil }
        let left = end - time.now
        return left >= .zero ? left : nil
    }
    /// Counts the changes of the resource. A later state of the same resource has a greater version.
    public var version: UInt64 { facts.version }
}

extension ResourceState: CustomStringConvertible {
    /// A line for people and logs without content, such as `version 3, content from network, loading`.
    public var description: String {
        var parts = ["version \(version)"]
        if let provenance { parts.append("content from \(provenance)") } else { parts.append("no content") }
        if let failure { parts.append("failed: \(failure.reason.name)") }
        if pending > 0 { parts.append("\(pending) pending") }
        if isInvalid { parts.append("invalid") }
        if isLoading { parts.append("loading") }
        return parts.joined(separator: ", ")
    }
}
