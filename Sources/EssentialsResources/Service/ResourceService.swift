public import EssentialsHTTP
public import EssentialsRequests

/// Provides resources: one observable object for each URL, for all callers and all spellings of the URL.
///
/// Application code resolves this protocol from the locator. ``HTTPResourceService`` is the service itself.
///
/// ```swift
/// struct Shop: Sendable {
///     let service: any ResourceService
///     var cart: Resource<Cart> { service.resource("cart") }
///     func user(_ id: String) -> Resource<User> { service.resource("users", id) }
/// }
/// let user = try await shop.user("7").loadIfNeeded()
/// ```
///
/// Two handles are equal if they refer to the same resource of the same service. A handle is a value that costs nothing
/// to make, copy and drop. A resource in use is never dropped.
public protocol ResourceService: Sendable {
    /// The resource at an address.
    ///
    /// - Parameters:
    ///   - address: The address. An invalid address gives a resource whose loads fail as `invalidRequest`.
    ///   - variant: The header fields that select one of several representations; `nil` means that there is only one.
    func resource(at address: ResourceAddress, variant: ResourceVariant?) -> AnyResource

    /// The resource at the URL of a definition.
    ///
    /// ```swift
    /// let profile = service.resource(Users.get(id: 7))  // Resource<User>
    /// ```
    ///
    /// It is the same resource as the one at its path. Its loads are GET requests with the header fields, the codecs,
    /// the error model, the expected statuses and the options of the definition. The method, the body and conditions of
    /// the definition are ignored. If several definitions have the same URL, the one that was used last counts. The
    /// fields `Accept` and `Accept-Language` select a representation, so they make a variant.
    ///
    /// - Parameter request: The definition. If it has a base URL of its own, the resource is the one at the whole URL.
    ///   An invalid definition gives a resource whose loads fail with the failure of the definition.
    func resource<Request: TypedRequest>(_ request: Request) -> Resource<Request.Response>

    /// Marks the content of all resources that a pattern selects as outdated, and sends nothing.
    ///
    /// - Throws: `invalidRequest` if the pattern is malformed.
    func invalidate(_ pattern: ResourcePattern) throws(RequestFailure)

    /// Removes the content of all resources that a pattern selects, and cancels their loads.
    ///
    /// - Parameters:
    ///   - pattern: Selects the resources.
    ///   - extent: Whether requests other than loads are cancelled too.
    /// - Throws: `invalidRequest` if the pattern is malformed.
    func wipe(_ pattern: ResourcePattern, _ extent: WipeExtent) throws(RequestFailure)

    /// Marks resources as outdated whose configuration has one of the tags, and sends nothing.
    func invalidate(tagged tags: Set<String>)

    /// Removes the content of all resources whose configuration has one of the tags, and cancels their loads.
    ///
    /// - Parameters:
    ///   - tags: The tags; see ``ResourceConfiguration/tags``.
    ///   - extent: Whether requests other than loads are cancelled too.
    func wipe(tagged tags: Set<String>, _ extent: WipeExtent)

    /// Removes the content of all resources that a pattern selects, and their entities from the caches.
    ///
    /// - Returns: Whether all caches have removed their entities.
    /// - Throws: `invalidRequest` if the pattern is malformed.
    @discardableResult
    func wipe(
        _ pattern: ResourcePattern, purging store: PurgedStore, _ extent: WipeExtent
    ) async throws(RequestFailure) -> Bool

    /// Enters the partition of another account: the content of all resources is removed, and entity caches are used
    /// under other keys.
    func enter(_ partition: EntityPartition)
}

extension ResourceService {
    /// Removes the content of all resources that a pattern selects, and cancels their loads. Other requests continue.
    ///
    /// - Throws: `invalidRequest` if the pattern is malformed.
    public func wipe(_ pattern: ResourcePattern) throws(RequestFailure) { try wipe(pattern, .loads) }

    /// Removes the content of all resources whose configuration has one of the tags, and cancels their loads. Other
    /// requests continue.
    public func wipe(tagged tags: Set<String>) { wipe(tagged: tags, .loads) }

    /// Removes the content of all resources that a pattern selects, and their entities from the caches. Requests other
    /// than loads continue.
    ///
    /// - Returns: Whether all caches have removed their entities.
    /// - Throws: `invalidRequest` if the pattern is malformed.
    @discardableResult
    public func wipe(
        _ pattern: ResourcePattern, purging store: PurgedStore
    ) async throws(RequestFailure) -> Bool { try await wipe(pattern, purging: store, .loads) }

    /// The resource at a path below the environment's base URL.
    ///
    /// The path is text: `?`, `#`, `%` and all other characters except `/` belong to it and are escaped. One leading
    /// slash makes no difference. Neither a scheme nor `//` in it leads to another host.
    ///
    /// ```swift
    /// let cart: Resource<Cart> = service.resource("cart")
    /// ```
    @inlinable
    public func resource<Content: Sendable>(
        _ path: String, as type: Content.Type = Content.self, variant: ResourceVariant? = nil
    ) -> Resource<Content> {
        resource(at: .path(path), variant: variant).resource(as: type)
    }

    /// The resource at a path of segments. Each segment is escaped as a whole: a `/` in it begins no new segment.
    ///
    /// ```swift
    /// let user: Resource<User> = service.resource("users", id)
    /// ```
    @inlinable
    public func resource<Content: Sendable>(
        _ first: String, _ more: String..., as type: Content.Type = Content.self, variant: ResourceVariant? = nil
    ) -> Resource<Content> {
        resource(at: .segments([first] + more), variant: variant).resource(as: type)
    }

    /// The resource at a whole URL on any host.
    ///
    /// A URL outside the environment's base is loaded without credentials, and only from hosts that the service's
    /// configuration lists. For an invalid URL or `nil`, the loads of the resource fail as `invalidRequest`, so an
    /// optional link in a response needs no special case.
    @inlinable
    public func resource<Content: Sendable>(
        url: String?, as type: Content.Type = Content.self, variant: ResourceVariant? = nil
    ) -> Resource<Content> {
        resource(at: .url(url), variant: variant).resource(as: type)
    }

    /// The resource at a path below another URL than the environment's base. The path is text as in
    /// ``resource(_:as:variant:)``, and the query of the URL is kept.
    ///
    /// ```swift
    /// let picture: Resource<Picture> = service.resource(name, below: "https://cdn.example.com/pictures/")
    /// ```
    @inlinable
    public func resource<Content: Sendable>(
        _ path: String, below url: String, as type: Content.Type = Content.self, variant: ResourceVariant? = nil
    ) -> Resource<Content> {
        resource(at: .below(url, path: path), variant: variant).resource(as: type)
    }
}

/// The address of a resource.
///
/// ```swift
/// let address = ResourceAddress.segments(["users", id])
/// ```
public enum ResourceAddress: Sendable, Hashable {
    /// Text below the environment's base URL; see `ResourceService.resource(_:as:variant:)`.
    case path(String)
    /// Segments below the environment's base URL, each of them escaped as a whole.
    case segments([String])
    /// A whole URL. `nil` is an address whose loads fail.
    case url(String?)
    /// Text below a whole URL; see `ResourceService.resource(_:below:as:variant:)`.
    case below(String, path: String)
}
