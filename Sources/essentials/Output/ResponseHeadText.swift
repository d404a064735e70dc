import ServiceEssentials

/// Prints a response's head as it stands in HTTP/1.1, with plain line feeds.
enum ResponseHeadText {
    /// - Parameter version: As the connection says it; "HTTP" when it is empty.
    static func print(_ head: HTTPResponse, version: String) throws(RequestFailure) {
        let name = version.isEmpty ? "HTTP" : version
        var bytes = Array("\(name) \(StatusText.text(of: head.status))\n".utf8)
        for field in head.headerFields {
            bytes += Array("\(field.name.rawName): ".utf8)
            // The value's own bytes, which need not be UTF-8.
            field.withUnsafeBytesOfValue { bytes += Array($0) }
            bytes.append(UInt8(ascii: "\n"))
        }
        bytes.append(UInt8(ascii: "\n"))
        try StandardStream.output.write(bytes)
    }
}
