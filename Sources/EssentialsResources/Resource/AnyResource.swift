/// A resource whose content has no type yet.
///
/// ```swift
/// let resource = service.resource(at: .path("users/7"), variant: nil)
/// let user = resource.resource(as: User.self)
/// let text = resource.resource(as: String.self)   // another view of the same resource
/// ```
public struct AnyResource: Sendable {
    @usableFromInline let service: HTTPResourceService
    /// The resource for which the handle was made. It may have been merged with another one since.
    @usableFromInline let handle: ResourceCore

    init(service: HTTPResourceService, core: ResourceCore) { (self.service, handle) = (service, core) }

    /// The resource to which the handle refers now. This takes no lock.
    var core: ResourceCore { handle.current }

    /// The resource with content of a type.
    @inlinable
    public func resource<Content: Sendable>(as type: Content.Type = Content.self) -> Resource<Content> {
        Resource(service: service, core: handle)
    }

    /// The URL without credentials; `nil` if the address is not a URL.
    public var url: String? { core.address.shown }

    /// Marks the content as outdated; see ``Resource/invalidate()``.
    public func invalidate() { core.invalidate() }

    /// Removes the content and cancels all loads; see ``Resource/wipe(_:)``.
    public func wipe(_ extent: WipeExtent = .loads) { service.wipe(core, extent) }
}

/// The requests that a wipe cancels.
///
/// ```swift
/// cart.wipe(.includingWrites)
/// ```
public enum WipeExtent: Sendable, Hashable {
    /// The loads.
    case loads
    /// The loads and all other requests of the resource.
    case includingWrites
}

extension AnyResource: Hashable {
    /// Whether both refer to the same resource of the same service.
    public static func == (one: AnyResource, other: AnyResource) -> Bool { one.handle === other.handle }
    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(handle)) }
}

extension AnyResource: Identifiable {
    /// The identity of the resource, as long as a handle exists.
    public var id: ObjectIdentifier { ObjectIdentifier(handle) }
}

extension AnyResource: CustomStringConvertible {
    /// The URL for logs, without credentials.
    public var description: String { core.address.description }
}
