extension HTTPField {
    /// Creates a header field from text after validating it.
    ///
    /// ```swift
    /// request.headerFields.append(try HTTPField.checked(name: "X-Tenant", value: tenant))
    /// ```
    ///
    /// - Throws: `invalidRequest` if the name is not a token, or if the value contains a line break, another control
    ///   character or surrounding white space (RFC 9110, section 5.5), which `HTTPField.init` would change silently.
    public static func checked(name: String, value: String) throws(RequestFailure) -> HTTPField {
        guard let fieldName = HTTPField.Name(name) else {
            throw RequestFailure(
                .invalidRequest, "“\(RequestFailure.shown(name))” is not a header name.",
                remedy: "Use only letters, digits and “-”.")
        }
        return try checked(fieldName, value: value)
    }

    /// Creates a header field after validating its value; see ``checked(name:value:)``.
    package static func checked(_ name: HTTPField.Name, value: String) throws(RequestFailure) -> HTTPField {
        let field = HTTPField(name: name, value: value)
        // The initializer has checked the value, and replaces or removes white space and control characters, so that an
        // invalid value is not equal any longer.
        guard field.value != value else { return field }
        guard !value.utf8.contains(where: \.isFieldControl) else {
            throw RequestFailure(
                .invalidRequest,
                "The value of the header \(name.rawName) has a line break or another control character.",
                remedy: "Remove it; a header is one line.")
        }
        throw RequestFailure(
            .invalidRequest, "The value of the header \(name.rawName) begins or ends with white space.",
            remedy: "Trim it.")
    }
}

extension HTTPField {
    /// Whether the value has a control character (RFC 9110, 5.5).
    ///
    /// The fields of a response have the bytes that the server sent. Whoever sends a value back checks this first.
    package var hasControlCharacters: Bool { withUnsafeBytesOfValue { $0.contains { $0.isFieldControl } } }
}

extension HTTPFields {
    /// The name of a placeholder field. Its value is the failure for an invalid field that was set
    /// where throwing is impossible.
    private static let refusedName = HTTPField.Name("Essentials-Refused-Field")

    /// Records a failure that is thrown when the fields are sent. Only the first one is kept.
    package mutating func refuse(_ failure: RequestFailure) {
        guard let name = Self.refusedName, self[name] == nil else { return }
        self[name] = failure.message
    }

    /// - Throws: `invalidRequest` if an invalid field was set.
    package func checkNothingRefused() throws(RequestFailure) {
        guard !isEmpty, let name = Self.refusedName, let message = self[name] else { return }
        throw RequestFailure(
            .invalidRequest, message, remedy: "Header names are letters, digits and “-”; a value is one line.")
    }
}
