import ServiceEssentials

/// Prints a response's head in the format of HTTP/1.1, with plain line feeds.
enum ResponseHeadText {
    /// - Parameter version: The connection's protocol name; "HTTP" is printed if it is empty.
    static func print(_ head: HTTPResponse, version: String) throws(RequestFailure) {
        let name = version.isEmpty ? "HTTP" : version
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
