import EssentialsHTTP
import FoundationEssentials

extension FreshnessRules {
    /// Describes the freshness of a response. Only the rule that follows the server reads the fields.
    ///
    /// - Parameters:
    ///   - fields: The fields of the response. For a 304, they are the content's fields after merging those of the 304.
    ///   - confirmation: The fields of that 304; `nil` for a response with content.
    ///   - time: The monotonic time at which it was received.
    ///   - date: The date at which it was received.
    func content(
        with fields: HTTPFields, confirmedBy confirmation: HTTPFields? = nil, _ origin: ResponseOrigin,
        at time: Duration, _ date: Date
    ) -> Content {
        let use = origin.storedUse
        var content = Content(time: time, age: use?.age ?? .zero, isStale: use?.isStale ?? false)
        guard isByServer else { return content }
        let freshness = Freshness(of: fields, confirmedBy: confirmation, at: date, delay: origin.delay)
        content.serverLifetime = freshness.lifetime
        // A response cache knows the age better than the fields. Without a lifetime, the application's lifetime begins
        // now.
        if use == nil, freshness.lifetime != nil { content.age = freshness.age }
        return content
    }
}
