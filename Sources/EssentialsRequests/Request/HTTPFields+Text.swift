public import EssentialsHTTP

/// Header fields with names as text.
extension HTTPFields {
    /// The value of the field with a name, which is compared without case.
    ///
    /// Several values are joined with commas, as by the subscript for `HTTPField.Name`. Setting `nil` removes the
    /// field.
    ///
    /// ```swift
    /// request.headerFields["X-Tenant"] = "acme"
    /// ```
    ///
    /// Setting an invalid field does not trap. Instead, sending the request fails as `invalidRequest` with the name of
    /// the field. A name is invalid if it is not a token (RFC 9110, 5.1). A value is invalid if it has a control
    /// character, or leading or trailing white space (RFC 9110, 5.5). `HTTPField.checked` throws at once instead.
    public subscript(name: String) -> String? {
        get { HTTPField.Name(name).flatMap { self[$0] } }
        set {
            guard let newValue else {
                if let name = HTTPField.Name(name) { self[name] = nil }
                return
            }
            do throws(RequestFailure) {
                let field = try HTTPField.checked(name: name, value: newValue)
                self[field.name] = field.value
            } catch {
                refuse(error)
            }
        }
    }

    /// Creates fields from a dictionary, sorted by name. Invalid names and values fail as with the subscript.
    ///
    /// ```swift
    /// try await requests.get("users", headerFields: HTTPFields(["X-Tenant": tenant, "X-Batch": "7"]))
    /// ```
    public init(_ values: [String: String]) {
        self.init()
        for (name, value) in values.sorted(by: { $0.key < $1.key }) { self[name] = value }
    }
}
