import Synchronization

/// A response's head, read from its bytes when somebody first asks for the fields.
package final class ResponseHead: Sendable {
    private enum Fields {
        case raw([UInt8])
        case read(HTTPFields)
    }

    package let status: HTTPResponse.Status
    private let fields: Mutex<Fields>

    package init(status: Int, block: [UInt8]) {
        self.status = HTTPResponse.Status(code: status)
        fields = Mutex(.raw(block))
    }

    package init(_ head: HTTPResponse) {
        status = head.status
        fields = Mutex(.read(head.headerFields))
    }

    package var headerFields: HTTPFields {
        fields.withLock { state in
            switch state {
            case .read(let fields): return fields
            case .raw(let block):
                let fields = HeaderBlock.read(block)
                state = .read(fields)
                return fields
            }
        }
    }
}

/// Reads header lines (RFC 9112, 5). The transport has checked their framing.
package enum HeaderBlock {
    package static func read(_ block: some Collection<UInt8>) -> HTTPFields {
        var fields = HTTPFields()
        for line in block.split(separator: UInt8(ascii: "\n")) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), !line.starts(with: "HTTP/".utf8) else { continue }
            guard let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self)) else { continue }
            let value = line[line.index(after: colon)...].drop(while: isBlank)
            fields.append(HTTPField(name: name, value: Array(withoutTrailingBlanks(value))))
        }
        return fields
    }

    private static func withoutTrailingBlanks<Bytes: Collection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
        var count = 0
        for (index, byte) in bytes.enumerated() where !isBlank(byte) { count = index + 1 }
        return bytes.prefix(count)
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}
