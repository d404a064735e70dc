public import EssentialsHTTP
public import EssentialsRequests

/// The status to show for a set of resources: exactly one of three states.
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
/// A list of rules decides which state is shown. The first rule that applies decides. If no rule applies, the state is
/// ``content``.
public enum ResourceStatus: Sendable {
    /// A resource loads.
    case loading
    /// There is content to show, or no rule leads to another state.
    case content
    /// The load of a resource failed. The failure is that of the first such resource.
    case failed(RequestFailure)

    /// A rule that leads to a state.
    public enum Rule: Sendable, Hashable, CaseIterable {
        /// ``ResourceStatus/loading`` if a resource loads.
        case loading
        /// ``ResourceStatus/loading`` if a resource loads because of a manual action, such as pulling down a list, and
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

extension ResourceStatus {
    /// The statuses of resources with contents of different types: the current one, then each that differs from the
    /// previous one; see ``ResourceStatusSet/statuses``. Use a ``ResourceStatusSet`` to try failed loads again.
    ///
    /// - Parameters:
    ///   - resources: The resources.
    ///   - rules: The rules. The first one that applies decides.
    public static func of<each Content: Sendable>(
        _ resources: repeat Resource<each Content>, rules: [Rule] = standardRules
    ) -> ValueSequence<ResourceStatus> {
        ResourceStatusSet(StatusMember.list(repeat each resources), rules).statuses
    }

    /// The statuses of resources without types; otherwise like the function for typed ones.
    public static func of(
        _ resources: [AnyResource], rules: [Rule] = standardRules
    ) -> ValueSequence<ResourceStatus> {
        ResourceStatusSet(resources, rules: rules).statuses
    }

    /// Whether another status is shown the same. Failures are equal if they have the same reason, status and text.
    func isSame(as other: ResourceStatus) -> Bool {
        switch (self, other) {
        case (.loading, .loading), (.content, .content): true
        case (.failed(let one), .failed(let other)):
            one.reason == other.reason && one.status == other.status && one.message == other.message
                && one.summary == other.summary
        default: false
        }
    }
}
