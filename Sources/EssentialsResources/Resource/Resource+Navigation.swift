public import EssentialsHTTP

/// Resources near this one.
///
/// ```swift
/// let orders: Resource<[Order]> = user.child("orders")
/// let page: Resource<[Order]>? = orders.relative(nextLink)
/// let admins = users.withParam("role", "admin")
/// ```
extension Resource {
    /// The resource below this one. Its path is text as in ``ResourceService/resource(_:as:variant:)``, and the query of
    /// this resource is kept. An empty path gives the URL with a slash at its end.
    public func child<Other: Sendable>(_ path: String, as type: Other.Type = Other.self) -> Resource<Other> {
        near { base, url in base.child(of: url, path) }
    }

    /// The resource to which a reference leads, such as the link in a response
    /// ([RFC 3986, 5.2.2](https://www.rfc-editor.org/rfc/rfc3986#section-5.2.2)).
    ///
    /// The reference replaces the query, and without a leading slash it replaces the last segment of the path. Its
    /// fragment is dropped.
    ///
    /// - Parameters:
    ///   - reference: The reference; `nil` gives `nil`. An invalid one gives a resource whose loads fail as
    ///     `invalidRequest`.
    ///   - type: The type of the content.
    public func relative<Other: Sendable>(_ reference: String?, as type: Other.Type = Other.self) -> Resource<Other>? {
        guard let reference else { return nil }
        return near { base, url in base.relative(to: url, reference) ?? url }
    }

    /// The resource with another value of one query item.
    ///
    /// The items are then sorted by name, so that the order of setting them makes no second resource.
    ///
    /// - Parameters:
    ///   - name: The name of the item. All present items of this name are replaced.
    ///   - value: The value. `nil` removes the item, and an empty value is written without `=`.
    public func withParam(_ name: String, _ value: String?) -> Resource {
        withParams(QueryItems([.init(name: name, value: value)]))
    }

    /// The resource with other values of several query items; see ``withParam(_:_:)``. A name may occur more than once.
    public func withParams(_ items: QueryItems) -> Resource {
        near { base, url in base.url(url, setting: items) }
    }

    private func near<Other: Sendable>(
        _ derive: (ResourceBase, ResourceURL) -> ResourceURL
    ) -> Resource<Other> {
        service.checkEnvironment()
        let core = core
        let derived = service.table.core(variant: core.variant) { base in derive(base, core.address) }
        return Resource<Other>(service: service, core: derived)
    }
}
