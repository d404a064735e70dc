extension SeededNumbers {
    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<max(1, bound), using: &self) }

    mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    mutating func pick<Items: RandomAccessCollection>(_ items: Items) -> Items.Element {
        items[items.index(items.startIndex, offsetBy: below(items.count))]
    }
}

/// Damages bytes.
struct Mutator {
    var numbers: SeededNumbers

    /// Texts that are special in the grammars.
    private static let tokens: [[UInt8]] = [
        "\r\n", "\n", "\r", "\0", " ", "\t", ":", ";", ",", "=", "\"", "\\", "%", "%00", "%0d%0a", "..", "//",
        "\r\n\r\n",
        "a:\r\n", "\r\n ", "HTTP/1.1 ", "http/", "100", "103", "204", "304", "401", "416", "999", "-1", "0", "00",
        "18446744073709551616", "9223372036854775807", "2147483648", "0x10", "+5", "1e9", "chunked", "identity", "gzip",
        "br", "zstd", "deflate", "charset=", "utf-7", "utf-16", "iso-8859-1", "multipart/", "bytes 0-", "bytes */",
        "W/\"", "Digest ", "nonce=\"", "stale=true", "Basic ", "Negotiate", "Location: ", "Retry-After: ", "Link: <",
        "Content-Length: ", "Transfer-Encoding: ", "Content-Encoding: ", "Content-Range: ", "Connection: close",
        "data:", "event:", "id:", "retry:", "[[[[[[[[", "{\"a\":", "null", "1e400", "\\ud800", "\u{301}", "\u{feff}",
        "\u{202e}", "Mon, 31 Feb 99999 25:61:61 GMT", "Sun, 06 Nov 1994 08:49:37 GMT",
    ].map { Array($0.utf8) }

    /// Damages the bytes of a body one to six times.
    mutating func damage(_ bytes: [UInt8], beside others: [[UInt8]]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...numbers.below(6) { change(&bytes, others) }
        return bytes
    }

    private mutating func change(_ bytes: inout [UInt8], _ others: [[UInt8]]) {
        let place = numbers.below(bytes.count + 1)
        switch numbers.below(12) {
        case 0...1:
            if place < bytes.count { bytes[place] ^= 1 << UInt8(numbers.below(8)) }
        case 2:
            if place < bytes.count { bytes[place] = UInt8(numbers.below(256)) }
        case 3...5: bytes.insert(contentsOf: numbers.pick(Self.tokens), at: place)
        case 6: bytes.removeSubrange(place..<min(bytes.count, place + 1 + numbers.below(8)))
        case 7: bytes.removeSubrange(place...)
        case 8:
            let piece = slice(of: bytes, upTo: 64)
            bytes.insert(contentsOf: piece, at: place)
        case 9:
            let piece = slice(of: numbers.pick(others), upTo: 200)
            bytes.insert(contentsOf: piece, at: place)
        case 10: bytes.insert(contentsOf: repetition(of: numbers.pick(Self.tokens)), at: place)
        default: replaceNumber(in: &bytes)
        }
    }

    private mutating func slice(of bytes: [UInt8], upTo count: Int) -> [UInt8] {
        let start = numbers.below(bytes.count)
        return Array(bytes[start..<min(bytes.count, start + 1 + numbers.below(count))])
    }

    /// A repetition of a token, usually short, and rarely longer than the range of a 16-bit counter.
    private mutating func repetition(of token: [UInt8]) -> [UInt8] {
        let count = numbers.oneIn(40) ? 70_000 : numbers.oneIn(8) ? 2_000 : numbers.below(40)
        return [UInt8]((0..<count).map { _ in token }.joined())
    }

    private mutating func replaceNumber(in bytes: inout [UInt8]) {
        let digits = bytes.indices.filter { (0x30...0x39).contains(bytes[$0]) }
        guard let place = digits.isEmpty ? nil : numbers.pick(digits) else { return }
        bytes.replaceSubrange(place...place, with: numbers.pick([[], [0x39, 0x39], [0x2d], [0x30], [0x38]]))
    }
}
