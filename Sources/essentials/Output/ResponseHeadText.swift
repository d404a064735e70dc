import ServiceEssentials

/// Prints a response's head as it stands in HTTP/1.1, with plain line feeds.
enum ResponseHeadText {
    static func print(_ response: TransportResponse) throws(RequestFailure) {
        let name = response.connection.protocolName.isEmpty ? "HTTP" : response.connection.protocolName
        var bytes = Array("\(name) \(StatusText.text(of: response.status))\n".utf8)
        for field in response.headerFields {
            bytes += Array("\(field.name.rawName): ".utf8)
            // The value's own bytes, which need not be UTF-8.
            field.withUnsafeBytesOfValue { bytes += Array($0) }
            bytes.append(UInt8(ascii: "\n"))
        }
        bytes.append(UInt8(ascii: "\n"))
        try StandardStream.output.write(bytes)
    }
}
