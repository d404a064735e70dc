import EssentialsHTTP
import EssentialsRequests

extension ResourceTable {
    /// The resources that a closure selects. It is called without the lock of the table, once for each resource.
    func cores(where isSelected: (ResourceCore, ResourceURL) -> Bool) -> [ResourceCore] {
        cores.filter { isSelected($0, $0.address) }
    }
}

extension HTTPResourceService {
    /// The resources of this service that patterns or tags select. This takes time linear in the number of resources.
    ///
    /// - Parameters:
    ///   - origin: The origin of the resources; `nil` selects from all origins.
    ///   - patterns: The patterns. One of them must match.
    ///   - tags: The tags. A resource is also selected if its configuration for GET has one of them.
    func cores(
        of origin: Origin? = nil, matching patterns: [ResourcePattern], tagged tags: Set<String> = []
    ) -> [ResourceCore] {
        guard !patterns.isEmpty || !tags.isEmpty else { return [] }
        let rules = RelatedRules(patterns: patterns, tags: tags, base: table.base)
        return table.cores { core, url in
            guard origin.map(url.isOf) ?? true else { return false }
            return rules.selects(url) { effective(for: core).values.tags }
        }
    }

    /// Marks the resources as outdated that are related to a write, and loads the observed ones, a few at a time.
    ///
    /// - Parameters:
    ///   - origin: The origin of the written resource. Resources of other origins do not change.
    ///   - spared: A resource that stays as it is.
    func invalidate(_ related: RelatedResources, of origin: Origin, except spared: ResourceCore?) {
        guard !related.isEmpty else { return }
        var selected = cores(of: origin, matching: related.patterns, tagged: related.tags)
        for resource in related.resources
        where resource.service === self && resource.core.address.isOf(origin)
            && !selected.contains(where: { $0 === resource.core })
        {
            selected.append(resource.core)
        }
        selected.removeAll { $0 === spared }
        invalidate(selected)
    }

    /// Marks resources as outdated, and loads the observed ones, a few at a time.
    func invalidate(_ cores: [ResourceCore]) {
        for core in cores { core.invalidate() }
        let observed = cores.filter { $0.observerCount > 0 }
        if !observed.isEmpty { reload(observed) }
    }
}

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
