import EssentialsHTTP

/// The other resources that a write makes outdated.
///
/// ```swift
/// try await cart.post(item, invalidating: "/orders/**")
/// try await cart.post(item, invalidating: ["/orders/**", .tag("prices"), .resource(profile)])
/// ```
///
/// After a success they are invalidated if they have the origin of the written resource, and the observed ones are
/// loaded, four at a time. The written resource itself counts too, unless the write has just set or removed its
/// content.
public struct RelatedResources: Sendable {
    /// The patterns of their URLs.
    var patterns: [ResourcePattern] = []
    /// The tags of their configurations.
    var tags: Set<String> = []
    /// The resources that are named one by one.
    var resources: [AnyResource] = []

    var isEmpty: Bool { patterns.isEmpty && tags.isEmpty && resources.isEmpty }
    /// The problem of the first malformed pattern; `nil` if all patterns are valid.
    var problem: RequestFailure? { patterns.lazy.compactMap(\.problem).first }

    /// The resources that a pattern selects.
    public static func pattern(_ pattern: ResourcePattern) -> RelatedResources {
        var related = RelatedResources()
        related.patterns = [pattern]
        return related
    }

    /// The resources whose configuration has a tag; see ``ResourceConfiguration/tags``.
    ///
    /// ```swift
    /// try service.configure("/products/*") { $0.tags = ["prices"] }
    /// ```
    public static func tag(_ tag: String) -> RelatedResources {
        var related = RelatedResources()
        related.tags = [tag]
        return related
    }

    /// One resource.
    public static func resource<Content>(_ resource: Resource<Content>) -> RelatedResources { .resource(resource.any) }

    /// One resource.
    public static func resource(_ resource: AnyResource) -> RelatedResources {
        var related = RelatedResources()
        related.resources = [resource]
        return related
    }
}

extension RelatedResources: ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    /// The resources that a pattern with wildcards selects. If it is malformed, the write fails as `invalidRequest` and
    /// sends nothing.
    public init(stringLiteral glob: String) { self = .pattern(ResourcePattern(stringLiteral: glob)) }

    /// All resources of the elements.
    public init(arrayLiteral elements: RelatedResources...) {
        self.init()
        for element in elements {
            patterns += element.patterns
            tags.formUnion(element.tags)
            resources += element.resources
        }
    }
}
