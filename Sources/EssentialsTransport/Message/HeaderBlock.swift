/// The header fields of a response, which are parsed on first access.
enum UnreadFields {
    case raw([UInt8])
    /// Stored fields, to which `Age` is added in whole seconds.
    case stored(HTTPFields, age: Int64)
    case read(HTTPFields)

    /// Whether there is a `Set-Cookie` field. Unparsed lines are searched and stay unparsed.
    var hasSetCookie: Bool {
        switch self {
        case .read(let fields), .stored(let fields, _): fields.contains(.setCookie)
        case .raw(let block): Self.hasSetCookie(block)
        }
    }

    private static func hasSetCookie(_ block: [UInt8]) -> Bool {
        let name = "set-cookie:".utf8
        var isLineStart = true
        for index in block.indices {
            if isLineStart, block[index] | 0x20 == UInt8(ascii: "s"), block.count - index >= name.count,
                zip(block[index...], name).allSatisfy({ $0 == $1 || $0 | 0x20 == $1 })
            {
                return true
            }
            isLineStart = block[index] == UInt8(ascii: "\n")
        }
        return false
    }

    mutating func read() -> HTTPFields {
        switch self {
        case .read(let fields): return fields
        case .stored(var fields, let age):
            fields.append(HTTPField(name: .age, value: String(age)))
            self = .read(fields)
            return fields
        case .raw(let block):
            let fields = HeaderBlock.read(block)
            self = .read(fields)
            return fields
        }
    }
}

/// Parses header lines (RFC 9112, section 5). The transport has already validated their framing.
package enum HeaderBlock {
    /// Parses the heads of several consecutive responses.
    package static func readAll(_ block: [UInt8]) -> [HTTPResponse] {
        var heads: [HTTPResponse] = []
        var lines: [UInt8] = []
        // The length of the lines up to the last blank one, which ends a head. They are read once for each head.
        var end = 0
        func finish() {
            if end > 0, !heads.isEmpty { heads[heads.count - 1].headerFields = read(lines[..<end]) }
            (lines, end) = ([], 0)
        }
        for line in block.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if line.starts(with: "HTTP/".utf8) {
                let digits = line.split(separator: UInt8(ascii: " "), maxSplits: 2).dropFirst().first ?? []
                let status = Int(String(decoding: digits.filter { !isBlank($0) }, as: UTF8.self)) ?? 0
                guard (0...999).contains(status) else { continue }
                finish()
                heads.append(HTTPResponse(status: HTTPResponse.Status(code: status)))
            } else if !heads.isEmpty {
                lines.append(contentsOf: line)
                lines.append(UInt8(ascii: "\n"))
                if line.allSatisfy(isBlank) { end = lines.count }
            }
        }
        finish()
        return heads
    }

    package static func read(_ block: some Collection<UInt8>) -> HTTPFields {
        var fields = HTTPFields()
        var name: HTTPField.Name?
        var value: [UInt8] = []
        func finish() {
            // A carriage return within a value makes the field invalid (RFC 9112, section 2.2): readers that disagree see
            // two fields. Other control characters are kept, so that those who use the value can refuse them.
            if let name, !value.contains(UInt8(ascii: "\r")) {
                fields.append(HTTPField(name: name, lenientValue: value))
            }
            name = nil
        }
        for line in block.split(separator: UInt8(ascii: "\n")) {
            if let first = line.first, isBlank(first), name != nil {
                // Folded lines are joined with one blank (RFC 9112, section 5.2). The end of the head is no such line.
                let more = trimmed(line)
                if !value.isEmpty, !more.isEmpty { value.append(UInt8(ascii: " ")) }
                value += more
                continue
            }
            finish()
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), !line.starts(with: "HTTP/".utf8) else { continue }
            name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
            value = trimmed(line[line.index(after: colon)...])
        }
        finish()
        return fields
    }

    private static func trimmed<Bytes: Collection<UInt8>>(_ bytes: Bytes) -> [UInt8] {
        Array(withoutTrailingBlanks(bytes.drop(while: isBlank)))
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
