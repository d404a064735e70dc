/// The part of a response that a client reports.
package struct Reply: Sendable {
    package enum WireProtocol: String, Sendable {
        case http1 = "HTTP/1.1"
        case http2 = "HTTP/2"
    }

    package var status: Int
    package var bodyLength: Int
    package var wireProtocol: WireProtocol

    package init(status: Int, bodyLength: Int, wireProtocol: WireProtocol) {
        self.status = status
        self.bodyLength = bodyLength
        self.wireProtocol = wireProtocol
    }
}
