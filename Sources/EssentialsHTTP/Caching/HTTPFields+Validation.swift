import EssentialsTransport

/// What a cache asks a server with the fields of a stored response, and what it takes from a confirmation.
extension HTTPFields {
    /// The fields that a cache does not take from a 304 response (RFC 9111, 3.2, and RFC 9110, 15.4.5).
    package static let ofBody: Set<HTTPField.Name> = [
        .contentLength, .contentEncoding, .contentType, .contentRange, .transferEncoding, .connection, .trailer,
    ]

    /// The header field that asks the server whether what it sent with these fields has changed; `nil` without a validator.
    ///
    /// The entity tag is used if there is one, because dates have a resolution of one second
    /// ([RFC 9110, 13.1](https://www.rfc-editor.org/rfc/rfc9110#section-13.1)). A validator with a control character is not
    /// sent back.
    package var condition: (name: HTTPField.Name, value: String)? {
        let validator =
            self[.eTag].map { (HTTPField.Name.ifNoneMatch, $0) }
            ?? self[.lastModified].map { (HTTPField.Name.ifModifiedSince, $0) }
        guard let validator, !validator.1.utf8.contains(where: \.isFieldControl) else { return nil }
        return validator
    }
}
