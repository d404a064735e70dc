extension HTTPField {
    /// A header field from text that may be wrong.
    ///
    /// ```swift
    /// request.headerFields.append(try HTTPField.checked(name: "X-Tenant", value: tenant))
    /// ```
    ///
    /// - Throws: `invalidRequest` when the name is no token or the value holds a line break, another control character
    ///   or outer white space (RFC 9110, 5.5), which `HTTPField.init` would silently change.
    public static func checked(name: String, value: String) throws(RequestFailure) -> HTTPField {
        guard let fieldName = HTTPField.Name(name) else {
            throw RequestFailure(
                .invalidRequest, "“\(RequestFailure.shown(name))” is no header name.",
                remedy: "Use letters, digits and “-”, nothing else.")
        }
        guard !value.utf8.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7f }) else {
            throw RequestFailure(
                .invalidRequest, "The value of the header \(name) has a line break or another control character.",
                remedy: "Remove it; a header is one line.")
        }
        guard HTTPField.isValidValue(value) else {
            throw RequestFailure(
                .invalidRequest, "The value of the header \(name) begins or ends with white space.",
                remedy: "Trim it.")
        }
        return HTTPField(name: fieldName, value: value)
    }
}
