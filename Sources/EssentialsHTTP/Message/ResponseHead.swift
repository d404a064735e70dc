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
    /// The heads of several responses, one after the other.
    package static func readAll(_ block: [UInt8]) -> [HTTPResponse] {
        var heads: [HTTPResponse] = []
        var lines: [UInt8] = []
        for line in block.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if line.starts(with: "HTTP/".utf8) {
                let digits = line.split(separator: UInt8(ascii: " "), maxSplits: 2).dropFirst().first ?? []
                let status = Int(String(decoding: digits.filter { !isBlank($0) }, as: UTF8.self)) ?? 0
                guard (0...999).contains(status) else { continue }
                heads.append(HTTPResponse(status: HTTPResponse.Status(code: status)))
                lines = []
            } else if !heads.isEmpty {
                lines.append(contentsOf: line)
                lines.append(UInt8(ascii: "\n"))
                if line.allSatisfy(isBlank) { heads[heads.count - 1].headerFields = read(lines) }
            }
        }
        return heads
    }

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
