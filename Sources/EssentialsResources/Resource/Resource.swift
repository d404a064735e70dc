public import EssentialsHTTP
public import EssentialsRequests

/// One resource of a server with content of one type: its state and its operations.
///
/// ```swift
/// let cart: Resource<Cart> = service.resource("cart")
/// let current = try await cart.loadIfNeeded()  // sends nothing if the content is fresh
/// print(cart.state.content?.items ?? [])       // anywhere, without waiting
/// ```
///
/// A handle is a value. All handles of one URL share one state, even with other content types, and equal handles refer
/// to the same resource. A handle keeps its service and the resource's state alive.
///
/// A resource that was obtained by its whole URL may lie below the base URL after a change of the environment. It is
/// then merged with the resource of the path there. Earlier handles of both share all state from then on, but are not
/// equal, because a hash must not change. Handles that are obtained later are equal.
///
/// It can be used from any task and thread. Reading the state has no effect. Requests are sent only by
/// ``load(_:priority:)``, ``loadIfNeeded(priority:)``, the functions that start loads, and those that write.
public struct Resource<Content: Sendable>: Sendable {
    @usableFromInline let service: HTTPResourceService
    /// The resource for which the handle was made. It may have been merged with another one since.
    @usableFromInline let handle: ResourceCore

    @usableFromInline
    init(service: HTTPResourceService, core: ResourceCore) {
        self.service = service
        handle = core
    }

    /// The resource to which the handle refers now. Code that needs it several times for one purpose keeps it in a
    /// variable.
    var core: ResourceCore { handle.current }

    /// The resource without the type of its content.
    public var any: AnyResource { AnyResource(service: service, core: handle) }

    /// The same resource with content of another type. The views share all of the state except the content, and each
    /// has its own failure if the body cannot be read as its type.
    public func resource<Other: Sendable>(as type: Other.Type = Other.self) -> Resource<Other> {
        Resource<Other>(service: service, core: handle)
    }

    /// The URL without credentials; `nil` if the address is not a URL.
    public var url: String? { core.address.shown }

    // MARK: State

    /// The current state. Reading it sends nothing and waits for nothing.
    @inlinable public var state: ResourceState<Content> { ResourceState(snapshot: snapshot, time: service.time) }

    @inlinable var snapshot: ResourceSnapshot<Content> {
        if let object = handle.object(of: ObjectIdentifier(Content.self)) { return .typed(object) }
        return handle.addView(of: Content.self, service.codecs)
    }

    /// The content; `nil` if nothing was loaded, or if it cannot be read as this type.
    @inlinable public var content: Content? { snapshot.content }
    /// Whether a load is running. This takes no lock.
    public var isLoading: Bool { flags.contains(.isLoading) }
    /// Whether ``loadIfNeeded(priority:)`` would send nothing now. This takes no lock.
    public var isFresh: Bool {
        let now = service.time.now
        if handle.flags.isFresh(at: now) { return true }
        return handle.flags.current.contains(.isForwarded) && core.flags.isFresh(at: now)
    }
    /// Whether the content was marked as outdated and has not been loaded since. This takes no lock.
    public var isInvalid: Bool { flags.contains(.isInvalid) }

    private var flags: ResourceFlags.Bits {
        let flags = handle.flags.current
        return flags.contains(.isForwarded) ? handle.forwardedFlags : flags
    }

    /// The number of observers: closures, sequences that are being read, and observer objects.
    public var observerCount: Int { core.observerCount }

    // MARK: Loading

    /// Loads the content with a new GET request, even if another load is running.
    ///
    /// If a newer load, override or wipe has changed the state meanwhile, the caller receives the content that the
    /// server sent, and the state stays. If the current content has an entity tag or a date, the request is
    /// conditional, and a 304 response returns the current content.
    ///
    /// A load never shares the response to an older request, neither of this resource nor of the data-request service.
    ///
    /// - Parameters:
    ///   - mode: Which stored responses are accepted.
    ///   - priority: The priority of the request; `nil` means that of the resource's definition, or the default one.
    /// - Returns: The content.
    /// - Throws: The failures of `DataRequestService.send`; `decoding` if the body cannot be read as the content type;
    ///   `cancelled` if the calling task or the load was cancelled. If other tasks wait for the load, it continues. If
    ///   no view of a model can read the response, the load fails and the content stays.
    @discardableResult
    public func load(
        _ mode: LoadMode = .current, priority: RequestPriority? = nil
    ) async throws(RequestFailure) -> Content {
        try await load(mode, priority: priority, in: prepare())
    }

    /// Loads the content as part of an operation that has begun.
    func load(
        _ mode: LoadMode = .current, priority: RequestPriority? = nil, in environment: AdoptedEnvironment
    ) async throws(RequestFailure) -> Content {
        let core = core
        var options = LoadOptions(mode, of: core, service, in: environment)
        options.priority = priority
        return try await content(with: options, of: core)
    }

    /// Returns the content, and loads it first if it is not fresh.
    ///
    /// Fresh content is returned at once. Otherwise a running load that is recent enough is joined, so any number of
    /// tasks causes one request. After a failure nothing is sent until ``ResourceConfiguration/retryTime`` has passed:
    /// the current content is returned, or the failure is thrown if there is no content.
    ///
    /// - Parameter priority: The priority of the request; `nil` means that of the resource's definition, or the default
    ///   one. The load has the highest priority of all its callers, even while it waits for its turn.
    /// - Throws: The failures of ``load(_:priority:)``.
    @discardableResult
    @inlinable
    public func loadIfNeeded(priority: RequestPriority? = nil) async throws(RequestFailure) -> Content {
        // Fresh content is found by code that is compiled for the content type at the call site.
        if let object = service.freshObject(of: handle, ObjectIdentifier(Content.self)),
            let content = ResourceSnapshot<Content>.typed(object).content
        {
            return content
        }
        return try await loadUnlessFresh(priority)
    }

    /// Returns the content, and loads it first if it is older than the caller allows.
    ///
    /// The age replaces ``ResourceConfiguration/expiration`` for this call: fresh content is loaded if it is older, and
    /// younger content is returned even if it has expired. Content that was marked as outdated is always loaded. HTTP
    /// caches receive the age as `max-age`
    /// ([RFC 9111, 5.2.1.1](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1.1)), in whole seconds. In all other
    /// respects this is like ``loadIfNeeded(priority:)``.
    ///
    /// ```swift
    /// let prices = try await shop.prices.loadIfNeeded(maximumAge: .seconds(5))
    /// ```
    ///
    /// - Parameters:
    ///   - maximumAge: The maximum age of the current content, or of the content of an entity cache.
    ///   - priority: The priority of the request, as in ``loadIfNeeded(priority:)``.
    /// - Throws: The failures of ``load(_:priority:)``.
    @discardableResult
    public func loadIfNeeded(
        maximumAge: Duration, priority: RequestPriority? = nil
    ) async throws(RequestFailure) -> Content {
        let core = core
        // The caches may have content that is young enough.
        let configuration = service.effective(for: core)
        if service.usesCaches(configuration), core.mayReadCaches {
            await service.readCaches(of: core, configuration, in: prepare())
        }
        return try await loadUnlessFresh(priority, maximumAge: maximumAge)
    }

    @usableFromInline
    func loadUnlessFresh(
        _ priority: RequestPriority?, maximumAge: Duration? = nil
    ) async throws(RequestFailure) -> Content {
        try await loadUnlessFresh(priority, maximumAge: maximumAge, in: service.adoptEnvironment())
    }

    /// Returns the content as part of an operation that has begun, and loads it first if it is not fresh.
    func loadUnlessFresh(
        _ priority: RequestPriority? = nil, maximumAge: Duration? = nil, in environment: AdoptedEnvironment
    ) async throws(RequestFailure) -> Content {
        _ = snapshot
        let core = core
        switch service.loadIfNeeded(
            core, ObjectIdentifier(Content.self), isAwaited: true, maximumAge: maximumAge, priority: priority,
            in: environment)
        {
        case .nothing:
            let state = snapshot
            if let content = state.content { return content }
            throw state.facts.failure ?? state.projectionFailure ?? LoadOutcome.cancelledFailure
        case .running(let load):
            core.raise(load, to: priority)
            return try await content(of: load)
        case .new(let load): return try await content(of: load)
        }
    }

    /// Loads the resource with a caller's own request, which may also have another URL. Its response becomes the
    /// content of this resource.
    ///
    /// - Parameter request: The request. Its own conditions take precedence over those of the resource.
    /// - Throws: The failures of ``load(_:priority:)`` and of `BuildableRequest.build()`. A 304 response to a condition
    ///   of the request is thrown as `status` and leaves the state as it is.
    @discardableResult
    public func load(using request: some BuildableRequest) async throws(RequestFailure) -> Content {
        let request: DataRequest = try request.build()
        let environment = prepare()
        let core = core
        return try await content(with: LoadOptions(request, of: core, service, in: environment), of: core)
    }

    /// Adopts the environment, and makes sure that the load reads content of this type.
    func prepare() -> AdoptedEnvironment {
        let environment = service.adoptEnvironment()
        _ = snapshot
        return environment
    }

    /// Starts a load, and waits for its content.
    private func content(with options: LoadOptions, of core: ResourceCore) async throws(RequestFailure) -> Content {
        let load = core.beginLoad(options, service, isAwaited: true)
        load.start()
        return try await content(of: load)
    }

    private func content(of load: Load) async throws(RequestFailure) -> Content {
        let outcome = await load.outcome()
        if Task.isCancelled { load.core.leave(load) }
        return try outcome.content(of: Content.self, service.codecs)
    }

    /// Cancels all loads of the resource for which no task waits, including those that were started by hand. A task
    /// that waits for the content of a request also waits for its load.
    public func cancelLoads() { core.cancelLoads() }

    // MARK: Changes without a request

    /// Sets the content without a request. It counts as fresh from now on, a failure is cleared, and responses to
    /// running loads no longer change the state. The media type and header fields stay. If there is no media type, it
    /// becomes `application/octet-stream`.
    public func override(with content: Content) { core.override(with: content, entity: nil, service) }

    /// Sets content and entity without a request; see ``override(with:)``.
    public func override(with content: Content, entity: Entity) {
        core.override(with: content, entity: entity, service)
    }

    /// Changes the content in place without a request; see ``override(with:)``. Concurrent updates are all applied.
    ///
    /// - Parameter change: Changes the content. It is called outside all locks, and again if the content has changed
    ///   meanwhile, so it should have no side effects.
    /// - Returns: Whether there was content to change.
    @discardableResult
    public func update(_ change: (inout Content) -> Void) -> Bool { core.update(service, change) }

    /// Marks the content as outdated, so that the next ``loadIfNeeded(priority:)`` contacts the server. It sends
    /// nothing itself.
    ///
    /// The mark stays until a load that began after it ends with a response or a failure, or until the content is set.
    public func invalidate() { core.invalidate() }

    /// Removes content and failure, and cancels all loads, whose responses are ignored. The entity in the caches is not
    /// found any more, and is removed in the background.
    ///
    /// - Parameter extent: Whether other requests of the resource are cancelled too. By default they continue, because
    ///   the server may have carried them out already.
    public func wipe(_ extent: WipeExtent = .loads) { any.wipe(extent) }
}

extension Resource: Hashable {
    /// Whether both refer to the same resource of the same service.
    public static func == (one: Resource, other: Resource) -> Bool { one.handle === other.handle }
    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(handle)) }
}

extension Resource: Identifiable {
    /// The identity of the resource, as long as a handle exists.
    public var id: ObjectIdentifier { ObjectIdentifier(handle) }
}

extension Resource: CustomStringConvertible {
    /// The URL for logs, without credentials.
    public var description: String { core.address.description }
}
