/// Where a resource's content came from.
///
/// ```swift
/// if case .entityCache = user.state.provenance { showBadge("saved") }
/// ```
public enum Provenance: Sendable, Hashable {
    /// A response of the server, or its confirmation that the content has not changed.
    case network
    /// A response that was stored in an HTTP cache.
    ///
    /// - Parameters:
    ///   - age: The time since the server created the response.
    ///   - isStale: Whether the response was no longer fresh when it was used.
    case httpCache(age: Duration, isStale: Bool)
    /// An entity cache of the resource service. The name is that of the pipeline stage.
    case entityCache(stage: String)
    /// An override or an update by the application.
    case local
    /// An optimistic change that the server has not confirmed yet.
    case optimistic
    /// An event that the server sent.
    case pushed
}
