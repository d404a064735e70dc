public import EssentialsHTTP

/// What to show for a set of resources: exactly one of three states.
///
/// ```swift
/// for await status in ResourceStatus.of(cart, orders) {
///     switch status {
///     case .loading: spinner.show()
///     case .content: table.show()
///     case .failed(let failure): message.show(failure.message)
///     }
/// }
/// ```
///
/// Which state is shown is decided by a list of rules. The first rule that applies decides. If none applies, the state
/// is ``content``.
public enum ResourceStatus: Sendable {
    /// A resource loads.
    case loading
    /// There is something to show, or nothing that prevents it.
    case content
    /// The load of a resource failed. The failure is that of the first such resource.
    case failed(RequestFailure)

    /// A rule that leads to a state.
    public enum Rule: Sendable, Hashable, CaseIterable {
        /// ``ResourceStatus/loading`` if a resource loads.
        case loading
        /// ``ResourceStatus/loading`` if a resource loads because somebody asked for it, as by pulling down a list, and
        /// not automatically.
        case manualLoading
        /// ``ResourceStatus/content`` if a resource has content.
        case anyContent
        /// ``ResourceStatus/content`` if all resources have content.
        case allContent
        /// ``ResourceStatus/failed(_:)`` if the last load of a resource failed.
        case failure
    }

    /// The rules that are used by default: loading, failure, any content.
    public static let standardRules: [Rule] = [.loading, .failure, .anyContent]
}
