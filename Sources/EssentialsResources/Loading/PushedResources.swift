public import EssentialsHTTP
public import EssentialsRequests
import EssentialsTools

/// The resources that an event stream feeds: a resource service whose resources are remembered.
///
/// ```swift
/// let events = service.follow(eventsAt: "events") { event, resources in
///     guard let price = try? JSONDecoder().decode(Price.self, from: Data(event.data.utf8)) else { return }
///     resources.push(price, to: resources.resource("prices", price.name))
/// }
/// ```
///
/// After a gap in the stream all of them are invalid. At most 10,000 are remembered; beyond that, all resources of the
/// service count as fed.
public struct PushedResources: ResourceService {
    let service: HTTPResourceService
    let memory: PushedMemory
    /// The connection that delivered the event.
    var connection: EventConnection?

    /// Returns the resource at an address. The stream feeds it from now on.
    public func resource(at address: ResourceAddress, variant: ResourceVariant?) -> AnyResource {
        let resource = service.resource(at: address, variant: variant)
        memory.add(resource.core)
        return resource
    }

    /// Returns the resource at the URL of a definition. The stream feeds it from now on.
    public func resource<Request: TypedRequest>(_ request: Request) -> Resource<Request.Response> {
        let resource: Resource<Request.Response> = service.resource(request)
        memory.add(resource.core)
        return resource
    }

    /// Sets the content of a resource to content from an event. The content is fresh, like loaded content, and its
    /// provenance is `pushed`. Nothing happens if another environment or partition was entered since the event was
    /// received, or if the credentials of the stream were cleared or replaced.
    public func push<Content: Sendable>(_ content: Content, to resource: Resource<Content>) {
        memory.add(resource.core)
        resource.core.override(with: content, entity: nil, provenance: .pushed, service, from: connection)
    }

    /// Marks the content of a resource as outdated. If the resource is observed, it is loaded and caches are bypassed.
    /// At most four such loads of the service run at a time. Nothing happens if the event no longer counts; see
    /// ``push(_:to:)``.
    public func invalidate(_ resource: AnyResource) {
        guard isLive else { return }
        memory.add(resource.core)
        service.invalidate([resource.core])
    }

    /// Marks the content of a resource as outdated; like the function for resources without types.
    public func invalidate<Content: Sendable>(_ resource: Resource<Content>) { invalidate(resource.any) }

    /// Whether the event still counts.
    private var isLive: Bool {
        guard let connection else { return true }
        service.adoptEnvironment()
        return service.isLive(connection)
    }
}

/// Functions for several resources, which work like those of the service. The stream does not feed the selected
/// resources. The functions have no effect if the event no longer counts; see ``PushedResources/push(_:to:)``.
extension PushedResources {
    /// Marks the content of all resources that a pattern selects as outdated. The observed ones are loaded.
    ///
    /// - Throws: `invalidRequest` if the pattern is malformed.
    public func invalidate(_ pattern: ResourcePattern) throws(RequestFailure) {
        if let problem = pattern.problem { throw problem }
        guard isLive else { return }
        service.adoptEnvironment()
        service.invalidate(service.cores(matching: [pattern]))
    }

    /// Marks resources as outdated whose configuration has one of the tags. The observed ones are loaded.
    public func invalidate(tagged tags: Set<String>) {
        guard isLive else { return }
        service.adoptEnvironment()
        service.invalidate(service.cores(matching: [], tagged: tags))
    }

    /// Removes the content of all resources that a pattern selects, and cancels their loads.
    ///
    /// - Throws: `invalidRequest` if the pattern is malformed.
    public func wipe(_ pattern: ResourcePattern, _ extent: WipeExtent) throws(RequestFailure) {
        if let problem = pattern.problem { throw problem }
        guard isLive else { return }
        try service.wipe(pattern, extent)
    }

    /// Removes the content of all resources whose configuration has one of the tags, and cancels their loads.
    public func wipe(tagged tags: Set<String>, _ extent: WipeExtent) {
        guard isLive else { return }
        service.wipe(tagged: tags, extent)
    }

    /// Removes the content of all resources that a pattern selects, and their entities from the caches.
    ///
    /// - Returns: Whether all caches have removed their entities; `false` if the event no longer counts.
    /// - Throws: `invalidRequest` if the pattern is malformed.
    @discardableResult
    public func wipe(
        _ pattern: ResourcePattern, purging store: PurgedStore, _ extent: WipeExtent
    ) async throws(RequestFailure) -> Bool {
        if let problem = pattern.problem { throw problem }
        guard isLive else { return false }
        return try await service.wipe(pattern, purging: store, extent)
    }

    /// Enters another partition of the service.
    public func enter(_ partition: EntityPartition) {
        guard isLive else { return }
        service.enter(partition)
    }
}

/// Which resources an event stream feeds.
final class PushedMemory: Sendable {
    private struct Key: Hashable, Sendable {
        let url: String
        let variant: ResourceVariant
    }

    private struct State {
        var keys: Set<Key> = []
        var isFull = false
    }

    /// The maximum number of remembered resources. Beyond it, all resources count as fed.
    static let maximum = 10_000

    /// The patterns of further resources.
    private let patterns: [ResourcePattern]
    private let state = Mutex(State())

    init(_ patterns: [ResourcePattern]) { self.patterns = patterns }

    func add(_ core: ResourceCore) {
        let key = Key(url: core.address.text, variant: core.variant)
        state.withLock { state in
            guard !state.isFull else { return }
            if state.keys.count < Self.maximum || state.keys.contains(key) {
                state.keys.insert(key)
            } else {
                (state.isFull, state.keys) = (true, [])
            }
        }
    }

    /// Forgets the resources, because they belonged to another server.
    func forget() { state.withLock { $0 = State() } }

    /// The resources of a table that are fed.
    func cores(in table: ResourceTable) -> [ResourceCore] {
        let (keys, isFull) = state.withLock { ($0.keys, $0.isFull) }
        let base = table.base
        return table.cores.filter { core in
            let url = core.address
            return isFull || keys.contains(Key(url: url.text, variant: core.variant))
                || patterns.contains { $0.matches(url, below: base) }
        }
    }
}
