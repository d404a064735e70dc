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
            joined(.eTag).map { (HTTPField.Name.ifNoneMatch, $0) }
            ?? joined(.lastModified).map { (HTTPField.Name.ifModifiedSince, $0) }
        guard let validator, !validator.1.utf8.contains(where: \.isFieldControl) else { return nil }
        return validator
    }

    /// The fields after a confirmation: those of the confirmation replace those of the same name, and stand after the others.
    ///
    /// - Parameter isExcluded: Whether a field stays as it is.
    package func merged(
        with confirmation: HTTPFields, except isExcluded: (HTTPField.Name) -> Bool
    ) -> HTTPFields {
        let taken = confirmation.filter { !isExcluded($0.name) }
        let names = Set(taken.map(\.name))
        return HTTPFields(filter { !names.contains($0.name) } + taken)
    }

    /// The lines of a field, joined by commas; `nil` without the field. One line is not copied.
    package func joined(_ name: HTTPField.Name) -> String? {
        var first: String?
        for field in self where field.name == name {
            if first != nil { return self[name] }
            first = field.value
        }
        return first
    }
}

/// The fields of a connection, which are about the next hop alone.
extension HTTPFields {
    private static func isOfConnection(_ field: HTTPField) -> Bool {
        let name = field.name.canonicalName
        guard let first = name.utf8.first, "cktup".utf8.contains(first) else { return false }
        return switch name {
        case "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "proxy-connection",
            "proxy-authenticate", "proxy-authentication-info", "proxy-authorization":
            true
        default: false
        }
    }

    /// The fields that `Connection` cannot take away, because it must not list them (RFC 9110, 7.6.1), and because a
    /// response would be fresh for longer without them, or be used for other requests.
    private static let ofEveryCache: Set<String> = [
        "cache-control", "date", "expires", "age", "vary", "etag", "last-modified", "pragma", "content-encoding",
    ]

    /// The fields without those of the connection: those that `Connection` lists, and those that always are (RFC 9111, 3.1).
    package var withoutConnection: HTTPFields {
        guard contains(where: Self.isOfConnection) else { return self }
        var removed: Set<String> = []
        for field in self where field.name == .connection {
            removed.formUnion(FieldList.members(of: field.value.lowercased().utf8))
        }
        removed.subtract(Self.ofEveryCache)
        return HTTPFields(filter { !Self.isOfConnection($0) && !removed.contains($0.name.canonicalName) })
    }
}
