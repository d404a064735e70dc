import EssentialsHTTP

/// Decides which state is shown for a set of resources.
enum StatusRules {
    /// The facts about one resource that the rules need.
    struct Part: Sendable {
        /// Whether it loads.
        var isLoading = false
        /// Whether one of its loads was started by hand.
        var isLoadingManually = false
        /// Whether it has content.
        var hasContent = false
        /// The failure of its last load.
        var failure: RequestFailure?
    }

    /// The state of the first rule that applies; ``ResourceStatus/content`` if no rule does.
    static func status(
        of parts: [Part], by rules: [ResourceStatus.Rule] = ResourceStatus.standardRules
    ) -> ResourceStatus {
        for rule in rules {
            if let status = status(of: parts, by: rule) { return status }
        }
        return .content
    }

    private static func status(of parts: [Part], by rule: ResourceStatus.Rule) -> ResourceStatus? {
        switch rule {
        case .loading: parts.contains { $0.isLoading } ? .loading : nil
        case .manualLoading: parts.contains { $0.isLoading && $0.isLoadingManually } ? .loading : nil
        case .anyContent: parts.contains { $0.hasContent } ? .content : nil
        case .allContent: parts.allSatisfy { $0.hasContent } ? .content : nil
        case .failure: parts.lazy.compactMap(\.failure).first.map { .failed($0) }
        }
    }
}
