public import EssentialsHTTP
import EssentialsRequests

/// Resources near this one.
///
/// ```swift
/// let orders: Resource<[Order]> = user.child("orders")
/// let page: Resource<[Order]>? = orders.relative(nextLink)
/// let admins = users.withParam("role", "admin")
/// let line = user.child("orders").child(segment: id).child("lines", as: [Line].self)
/// ```
extension Resource {
    /// The resource below this one. Its path is text as in ``ResourceService/resource(_:as:variant:)``, and the query
    /// of this resource is kept. An empty path gives the URL with a slash at its end.
    public func child<Other: Sendable>(_ path: String, as type: Other.Type = Other.self) -> Resource<Other> {
        any.child(path, as: type)
    }

    /// The resource one segment below this one; see ``child(_:as:)``. A slash in the segment is escaped, so an
    /// identifier cannot lead to another resource.
    ///
    /// ```swift
    /// let file: Resource<File> = files.child(segment: "a/b.txt")  // …/files/a%2Fb.txt
    /// ```
    public func child<Other: Sendable>(segment: String, as type: Other.Type = Other.self) -> Resource<Other> {
        any.child(segment: segment, as: type)
    }

    /// The resource to which a reference leads, such as the link in a response
    /// ([RFC 3986, 5.2.2](https://www.rfc-editor.org/rfc/rfc3986#section-5.2.2)).
    ///
    /// The reference replaces the query, and without a leading slash it replaces the last segment of the path. Its
    /// fragment is dropped.
    ///
    /// - Parameters:
    ///   - reference: The reference; `nil` returns `nil`. With an invalid reference, the loads of the resource fail as
    ///     `invalidRequest`.
    ///   - type: The type of the content.
    public func relative<Other: Sendable>(_ reference: String?, as type: Other.Type = Other.self) -> Resource<Other>? {
        any.relative(reference, as: type)
    }

    /// The resource with another value of one query item.
    ///
    /// The items are then sorted by name, so that setting them in another order makes no second resource.
    ///
    /// - Parameters:
    ///   - name: The name of the item. All existing items with this name are replaced.
    ///   - value: The value. `nil` removes the item, and an empty value is written without `=`.
    public func withParam(_ name: String, _ value: String?) -> Resource {
        any.withParam(name, value).resource()
    }

    /// The resource with other values of several query items; see ``withParam(_:_:)``. A name may occur more than once.
    public func withParams(_ items: QueryItems) -> Resource { any.withParams(items).resource() }

    // MARK: Without a type

    /// The resource below this one, without a type, as a step to another one; see ``child(_:as:)``.
    @_disfavoredOverload  // An inferred type wins.
    public func child(_ path: String) -> AnyResource { any.child(path) }

    /// The resource one segment below this one, without a type; see ``child(segment:as:)``.
    @_disfavoredOverload  // An inferred type wins.
    public func child(segment: String) -> AnyResource { any.child(segment: segment) }

    /// The resource to which a reference leads, without a type; see ``relative(_:as:)``.
    @_disfavoredOverload  // An inferred type wins.
    public func relative(_ reference: String?) -> AnyResource? { any.relative(reference) }
}

/// Resources near this one. Only the last step needs a content type.
extension AnyResource {
    /// The resource below this one; see ``Resource/child(_:as:)``.
    @_disfavoredOverload  // An inferred type wins.
    public func child(_ path: String) -> AnyResource { near { base, url in base.child(of: url, path) } }

    /// The resource below this one with content of a type; see ``Resource/child(_:as:)``.
    public func child<Other: Sendable>(_ path: String, as type: Other.Type = Other.self) -> Resource<Other> {
        child(path).resource(as: type)
    }

    /// The resource one segment below this one; see ``Resource/child(segment:as:)``.
    @_disfavoredOverload  // An inferred type wins.
    public func child(segment: String) -> AnyResource { near { base, url in base.child(of: url, segment: segment) } }

    /// The resource one segment below this one with content of a type; see ``Resource/child(segment:as:)``.
    public func child<Other: Sendable>(segment: String, as type: Other.Type = Other.self) -> Resource<Other> {
        child(segment: segment).resource(as: type)
    }

    /// The resource to which a reference leads; see ``Resource/relative(_:as:)``.
    @_disfavoredOverload  // An inferred type wins.
    public func relative(_ reference: String?) -> AnyResource? {
        guard let reference else { return nil }
        return near { base, url in base.relative(to: url, reference) ?? url }
    }

    /// The resource to which a reference leads, with content of a type; see ``Resource/relative(_:as:)``.
    public func relative<Other: Sendable>(_ reference: String?, as type: Other.Type = Other.self) -> Resource<Other>? {
        relative(reference)?.resource(as: type)
    }

    /// The resource with another value of one query item; see ``Resource/withParam(_:_:)``.
    public func withParam(_ name: String, _ value: String?) -> AnyResource {
        withParams(QueryItems([.init(name: name, value: value)]))
    }

    /// The resource with other values of several query items; see ``Resource/withParams(_:)``.
    public func withParams(_ items: QueryItems) -> AnyResource { near { base, url in base.url(url, setting: items) } }

    private func near(_ derive: (ResourceBase, ResourceURL) -> ResourceURL) -> AnyResource {
        service.checkEnvironment()
        let core = core
        return AnyResource(
            service: service, core: service.table.core(variant: core.variant) { base in derive(base, core.address) })
    }
}
