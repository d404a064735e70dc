import EssentialsHTTP

/// The part of a resource's state that does not depend on the type of its content.
struct ResourceFacts: Sendable {
    /// Counts the changes of the resource, from 0.
    var version: UInt64 = 0
    /// The version at which the content was last replaced or removed.
    var contentVersion: UInt64 = 0
    /// What is known about the content; `nil` without content.
    var entity: Entity?
    /// Where the content came from; `nil` without content.
    var provenance: Provenance?
    /// The monotonic time at which the content was received, confirmed or set.
    var contentTime: Duration?
    /// The failure of the last load; `nil` after a success, an override or a wipe.
    var failure: RequestFailure?
    /// The monotonic time of ``failure``.
    var failureTime: Duration?
    /// The monotonic time until which the resource is fresh; `nil` if it is not.
    var freshUntil: Duration?
    /// Whether an invalidation holds.
    var isInvalid = false
    /// Whether the content is what a GET request of this resource gave, so that its validator may be sent. It is not after
    /// an override, or after a load with another request.
    var isOfServer = false
    /// The number of loads that run.
    var loads = 0
}
