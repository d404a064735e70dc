import EssentialsHTTP
import FoundationEssentials

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
