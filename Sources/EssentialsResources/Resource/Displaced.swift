import EssentialsTools

/// The values that a change of a resource replaces. They are released after the lock, because contents, layers and the
/// models of failures may run foreign code when they are released. That code may use the resource and so take the lock
/// again.
///
/// The values are taken before the change instead of at each place that replaces one, so that no place is forgotten.
/// Most resources have one view and no layer, so this retains two objects and allocates nothing.
struct Displaced: Sendable {
    /// The content and the failure.
    private let snapshot: (any AnySnapshot)?
    /// All views, if there are several. Their array is copied by the change.
    private let views: [ResourceView]
    private let kept: KeptValue?
    private let writing: WritingBox?
    /// The waiting change that a newer one replaces if too many wait.
    private let waiting: PendingChange?

    init(_ contents: ResourceCore.Contents) {
        snapshot = contents.views.first?.snapshot
        views = contents.views.count > 1 ? contents.views : []
        kept = contents.kept
        writing = contents.writing
        waiting = contents.pending.last
    }
}
