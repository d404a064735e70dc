import EssentialsRequests

/// Decides whether a write makes another resource outdated.
struct RelatedRules: Sendable {
    /// The patterns of the related resources.
    var patterns: [ResourcePattern]
    /// Their tags.
    var tags: Set<String>
    /// The base URL below which patterns without a scheme match.
    var base: ResourceBase

    /// Whether a resource of the same origin is related.
    ///
    /// - Parameter ownTags: The tags of its configuration. They are computed only if there are related tags, and no
    ///   pattern has selected the resource.
    func selects(_ url: ResourceURL, tags ownTags: () -> Set<String>) -> Bool {
        if patterns.contains(where: { $0.matches(url, below: base) }) { return true }
        return !tags.isEmpty && !tags.isDisjoint(with: ownTags())
    }
}
