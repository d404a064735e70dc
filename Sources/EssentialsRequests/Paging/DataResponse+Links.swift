public import EssentialsHTTP

extension DataResponse {
    /// The links of the response's `Link` fields, in order (RFC 8288). They are parsed at each access.
    public var links: [WebLink] { headerFields.links }

    /// The first link with a relation type, such as `next`; `nil` if there is none.
    ///
    /// ```swift
    /// if let link = response.link(rel: "describedby"), let base = response.url {
    ///     print(try link.url(relativeTo: base))
    /// }
    /// ```
    ///
    /// A link with an `anchor` that leads to another resource than this response is not returned (RFC 8288, 3.2).
    ///
    /// - Parameter relation: The relation type. The case makes no difference.
    public func link(rel relation: String) -> WebLink? {
        links.first { link in
            guard link.hasRelation(relation) else { return false }
            guard let url else { return link.anchor == nil }
            return link.belongs(to: url)
        }
    }
}
