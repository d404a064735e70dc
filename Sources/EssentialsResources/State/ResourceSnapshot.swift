import EssentialsHTTP
import EssentialsTools
import FoundationEssentials

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

/// Decides whether received content can replace the current content: whether the views can read it.
///
/// Views of models decide, because only they can distinguish the content from another body with a success status, such
/// as the page of a captive portal or a document with an error. Views of bytes, text, JSON values and image headers
/// read such bodies too, so they decide only if no view of a model does. A view that could not read the current content
/// either does not decide, because its type may never fit this resource.
enum ReadingRules {
    /// The types that are read from nearly any body.
    private static let rawTypes: Set<ObjectIdentifier> = {
        let types: [Any.Type] = [
            Data.self, Data?.self, [UInt8].self, [UInt8]?.self, String.self, String?.self, JSONValue.self,
            JSONValue?.self, ImageHeader.self, ImageHeader?.self, EmptyResponse.self, EmptyResponse?.self,
        ]
        return Set(types.map { ObjectIdentifier($0) })
    }()

    /// Why a response does not become the content; `nil` if it does.
    ///
    /// - Parameters:
    ///   - projections: What the views have read from the response. A view without a projection cannot read it.
    ///   - views: The views with their current content. Without views any response becomes the content.
    static func refusal(of projections: [any AnyProjection], by views: [ResourceView]) -> RequestFailure? {
        let failures = failures(of: projections, by: views)
        guard !failures.isEmpty else { return nil }
        let failing = Set(failures.map(\.view.contentType))
        let models = views.filter { !rawTypes.contains($0.contentType) }
        if models.contains(where: { !failing.contains($0.contentType) }) { return nil }
        let deciding = models.filter { !$0.hasFailed }
        if deciding.isEmpty, failing.count < views.count { return nil }
        let decisive = Set((deciding.isEmpty ? views : deciding).map(\.contentType))
        return failures.first { decisive.contains($0.view.contentType) }?.failure
    }

    /// Why sent content does not become the content; `nil` if it does. Unlike a response, it is certainly meant as the
    /// content, so all views that can read the current content must be able to read it.
    static func refusalOfSent(_ projections: [any AnyProjection], by views: [ResourceView]) -> RequestFailure? {
        let failures = failures(of: projections, by: views)
        if let failure = failures.first(where: { !$0.view.hasFailed }) { return failure.failure }
        return failures.count == views.count ? failures.first?.failure : nil
    }

    private typealias Failure = (view: ResourceView, failure: RequestFailure)

    /// The views that cannot read a value, in the order of the views.
    private static func failures(of projections: [any AnyProjection], by views: [ResourceView]) -> [Failure] {
        // For the usual response, this check is the only cost.
        if projections.count == views.count, projections.allSatisfy({ $0.failure == nil }) { return [] }
        return views.compactMap { view in
            guard let projection = projections.first(where: { $0.contentType == view.contentType }) else {
                return (view, .otherContent(than: view.snapshot.type))
            }
            return projection.failure.map { (view, $0) }
        }
    }
}

extension ResourceView {
    /// Whether the view could not read the current content.
    fileprivate var hasFailed: Bool { snapshot.projection?.failure != nil }
}

extension RequestFailure {
    /// The failure of a view if the content has neither a value of its type nor a body.
    static func otherContent(than type: Any.Type) -> RequestFailure {
        RequestFailure(
            .decoding, "The content of the resource is not a \(type).", remedy: "Load it as the type that it has.")
    }
}
