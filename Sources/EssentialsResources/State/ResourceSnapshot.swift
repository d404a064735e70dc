import EssentialsHTTP
import EssentialsTools

/// A resource's state for a view of one content type. Snapshots are immutable, and each change makes a new one.
///
/// A resource has one snapshot for each requested content type. The methods allow it to make projections and new
/// snapshots without knowing their types.
protocol AnySnapshot: AnyObject, Sendable {
    /// The content type.
    var contentType: ObjectIdentifier { get }
    /// The content type itself.
    var type: Any.Type { get }
    /// The facts that all views share.
    var facts: ResourceFacts { get }
    /// Whether there is content of this type.
    var hasContent: Bool { get }
    /// The content; `nil` if there is none of this type.
    var anyContent: (any Sendable)? { get }
    /// Whether the content of the resource was read as this type, or could not be read.
    var isRead: Bool { get }

    /// Reads content of this type from a loaded value; `nil` if the value is of another type and has no body.
    func project(_ value: LoadedValue, _ codecs: CodecRegistry) -> (any AnyProjection)?
    /// The content, or the failure to read it; `nil` if there is neither.
    var projection: (any AnyProjection)? { get }
    /// The snapshot after a change.
    ///
    /// - Parameters:
    ///   - facts: The facts that all views share.
    ///   - change: The change of the content.
    func next(_ facts: ResourceFacts, _ change: ContentChange) -> any AnySnapshot
}

/// One content type of a resource, with its current snapshot.
struct ResourceView: Sendable {
    let contentType: ObjectIdentifier
    var snapshot: any AnySnapshot

    init(_ snapshot: any AnySnapshot) {
        contentType = snapshot.contentType
        self.snapshot = snapshot
    }

    /// The view at the same version, without content and failure.
    var withoutContent: ResourceView {
        var facts = ResourceFacts(version: snapshot.facts.version)
        facts.progress = snapshot.facts.progress
        return ResourceView(snapshot.next(facts, .remove))
    }
}

extension [ResourceView] {
    /// The snapshot of a content type; `nil` if there is none.
    ///
    /// It is not generic, so that it is as fast for callers whose code is not specialised.
    func object(of contentType: ObjectIdentifier) -> AnyObject? {
        for index in indices where self[index].contentType == contentType { return self[index].snapshot }
        return nil
    }

    /// Whether content of a type, or the failure to read it, exists. `nil` stands for all requested types.
    func isHere(_ contentType: ObjectIdentifier?) -> Bool {
        guard let contentType else { return allSatisfy { $0.snapshot.projection != nil } }
        for index in indices where self[index].contentType == contentType {
            return self[index].snapshot.projection != nil
        }
        return false
    }

    /// The snapshot of a content type; `nil` if there is none.
    func snapshot<Content: Sendable>(of type: Content.Type) -> ResourceSnapshot<Content>? {
        object(of: ObjectIdentifier(type)).map { ResourceSnapshot.typed($0) }
    }
}

/// Content of one type, or the failure to read it.
protocol AnyProjection: Sendable {
    /// The content type.
    var contentType: ObjectIdentifier { get }
    /// The failure, if the content could not be read.
    var failure: RequestFailure? { get }
}

/// The effect of a change on the content of a view.
enum ContentChange: Sendable {
    /// The content stays.
    case keep
    /// The content is removed.
    case remove
    /// The content is replaced by one of these projections. A view without one has no content afterwards, until the
    /// next load.
    case replace([any AnyProjection])
}

/// Content of one type, or the failure to read it.
struct Projection<Content: Sendable>: AnyProjection {
    let result: Result<Content, RequestFailure>

    var contentType: ObjectIdentifier { ObjectIdentifier(Content.self) }
    var failure: RequestFailure? {
        guard case .failure(let failure) = result else { return nil }
        return failure
    }
}

extension [any AnyProjection] {
    /// The projection of a type; `nil` if there is none.
    func projection<Content: Sendable>(of type: Content.Type) -> Projection<Content>? {
        for case let projection as Projection<Content> in self { return projection }
        return nil
    }
}

/// The snapshot for the views with one content type.
@usableFromInline
final class ResourceSnapshot<Content: Sendable>: AnySnapshot {
    let facts: ResourceFacts
    @usableFromInline let content: Content?
    /// Why the resource's content could not be read as this type; `nil` if it could, or if there is no content.
    let projectionFailure: RequestFailure?
    #if DEBUG
        private let mark = LiveMark(.snapshot)
    #endif

    init(_ facts: ResourceFacts, content: Content? = nil, projectionFailure: RequestFailure? = nil) {
        self.facts = facts
        self.content = content
        self.projectionFailure = projectionFailure
    }

    /// Casts a snapshot of this type that was found by its content type.
    @inlinable
    static func typed(_ object: AnyObject) -> ResourceSnapshot {
        // Only snapshots of this generic class are stored, each under the identifier of its only type parameter.
        unsafeDowncast(object, to: ResourceSnapshot.self)
    }

    var contentType: ObjectIdentifier { ObjectIdentifier(Content.self) }
    var type: Any.Type { Content.self }
    var hasContent: Bool { content != nil }
    var anyContent: (any Sendable)? { content }
    var isRead: Bool { content != nil || projectionFailure != nil }

    func project(_ value: LoadedValue, _ codecs: CodecRegistry) -> (any AnyProjection)? {
        value.content(of: Content.self, codecs).map { Projection<Content>(result: $0) }
    }

    var projection: (any AnyProjection)? {
        if let content { return Projection<Content>(result: .success(content)) }
        return projectionFailure.map { Projection<Content>(result: .failure($0)) }
    }

    func next(_ facts: ResourceFacts, _ change: ContentChange) -> any AnySnapshot {
        switch change {
        case .keep: return ResourceSnapshot(facts, content: content, projectionFailure: projectionFailure)
        case .remove: return ResourceSnapshot(facts)
        case .replace(let projections):
            switch projections.projection(of: Content.self)?.result {
            case nil: return ResourceSnapshot(facts)
            case .success(let content)?: return ResourceSnapshot(facts, content: content)
            case .failure(let failure)?: return ResourceSnapshot(facts, projectionFailure: failure)
            }
        }
    }
}
