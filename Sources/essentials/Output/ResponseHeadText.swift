import ServiceEssentials

/// Prints a response's head in the format of HTTP/1.1, with plain line feeds.
enum ResponseHeadText {
    /// - Parameters:
    ///   - version: The connection's protocol name; "HTTP" is printed if it is empty.
    ///   - isProtected: Whether invisible characters are escaped, because a terminal would obey them.
    static func print(_ head: HTTPResponse, version: String, isProtected: Bool) throws(RequestFailure) {
        let name = version.isEmpty ? "HTTP" : version
        guard !isProtected else {
            let lines = ["\(name) \(StatusText.text(of: head.status))"] + head.headerFields.map(line) + ["", ""]
            return try StandardStream.output.write(lines.map(VisibleText.line).joined(separator: "\n"))
        }
        var bytes = Array("\(name) \(StatusText.text(of: head.status))\n".utf8)
        for field in head.headerFields {
            bytes += Array("\(field.name.rawName): ".utf8)
            // The raw bytes of the value, which need not be UTF-8.
            field.withUnsafeBytesOfValue { bytes += Array($0) }
            bytes.append(UInt8(ascii: "\n"))
        }
        bytes.append(UInt8(ascii: "\n"))
        try StandardStream.output.write(bytes)
    }

    /// A field in one line; bytes that are not UTF-8 become U+FFFD.
    static func line(_ field: HTTPField) -> String {
        "\(field.name.rawName): \(field.withUnsafeBytesOfValue { String(decoding: $0, as: UTF8.self) })"
    }
}

/// Formats a status with its reason phrase.
enum StatusText {
    /// A text such as `404 Not Found`. It uses the server's reason phrase, which HTTP/2 does not have, otherwise the
    /// registered phrase; a status without either is printed as a number.
    static func text(of status: HTTPResponse.Status) -> String {
        let phrase = status.reasonPhrase.isEmpty ? status.registeredPhrase ?? "" : status.reasonPhrase
        return phrase.isEmpty ? "\(status.code)" : "\(status.code) \(phrase)"
    }
}
