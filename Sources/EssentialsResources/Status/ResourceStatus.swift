public import EssentialsHTTP
public import EssentialsRequests

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

extension ResourceStatus {
    /// The statuses of resources with contents of different types: the present one, then each that differs from the one
    /// before; see ``ResourceStatusSet/statuses``. Use a ``ResourceStatusSet`` to try failed loads again.
    ///
    /// - Parameters:
    ///   - resources: The resources.
    ///   - rules: The rules, of which the first that applies decides.
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

    /// Whether a status shows the same. Failures are equal if they have the same reason, status and text.
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
