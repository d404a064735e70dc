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

extension HTTPFields {
    /// The name under which a failure takes the place of an invalid field, where setting one cannot throw.
    private static let refusedName = HTTPField.Name("Essentials-Refused-Field")

    /// Keeps a failure to be thrown when the fields are sent. The first one counts.
    package mutating func refuse(_ failure: RequestFailure) {
        guard let name = Self.refusedName, self[name] == nil else { return }
        self[name] = failure.message
    }

    /// - Throws: `invalidRequest` when an invalid field was set.
    package func checkNothingRefused() throws(RequestFailure) {
        guard let name = Self.refusedName, let message = self[name] else { return }
        throw RequestFailure(
            .invalidRequest, message, remedy: "Header names are letters, digits and “-”; a value is one line.")
    }
}
