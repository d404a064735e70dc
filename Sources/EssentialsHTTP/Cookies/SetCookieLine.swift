#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The parts of one `Set-Cookie` line (RFC 6265, section 5.2). The line is read as bytes.
struct SetCookieLine {
    typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    /// The maximum size of name and value together.
    static let maximumPair = 4096
    /// The maximum size of an attribute's value. Longer attributes are ignored.
    static let maximumAttribute = 1024

    /// Name, equals sign and value.
    let pair: [UInt8]
    let nameCount: Int
    /// The attribute `Domain` in lower case and without one leading dot; `nil` if it is missing or empty.
    private(set) var domain: String?
    /// The attribute `Path`; `nil` if it is missing or does not begin with a slash.
    private(set) var path: String?
    /// The attribute `Max-Age` in seconds.
    private(set) var maxAge: Int?
    private(set) var expires: Date?
    private(set) var isSecure = false
    private(set) var isHTTPOnly = false
    private(set) var sameSite: Cookie.SameSite?

    /// - Throws: `syntax` if there is no equals sign or no name, or if the line contains a control character other than
    ///   a tab. `size` if name and value are too long.
    init(_ line: UnsafeBufferPointer<UInt8>) throws(CookieRefusal) {
        guard !line.contains(where: Self.isControl) else { throw .syntax }
        var rest = line[...]
        let head = Self.next(&rest)
        guard let equals = head.firstIndex(of: UInt8(ascii: "=")) else { throw .syntax }
        let name = Self.trimmed(head[..<equals])
        let value = Self.trimmed(head[(equals + 1)...])
        guard !name.isEmpty else { throw .syntax }
        guard name.count + value.count <= Self.maximumPair else { throw .size }
        var pair: [UInt8] = []
        pair.reserveCapacity(name.count + 1 + value.count)
        pair.append(contentsOf: name)
        pair.append(UInt8(ascii: "="))
        pair.append(contentsOf: value)
        self.pair = pair
        nameCount = name.count
        while !rest.isEmpty { read(Self.next(&rest)) }
    }

    /// Reads one attribute. If several have the same name, the last valid one counts.
    private mutating func read(_ attribute: Bytes) {
        let equals = attribute.firstIndex(of: UInt8(ascii: "="))
        let name = Self.trimmed(attribute[..<(equals ?? attribute.endIndex)])
        let value = Self.trimmed(attribute[(equals.map { $0 + 1 } ?? attribute.endIndex)...])
        guard value.count <= Self.maximumAttribute else { return }
        if Self.isName(name, "path") {
            path = value.first == UInt8(ascii: "/") ? String(decoding: value, as: UTF8.self) : nil
        } else if Self.isName(name, "secure") {
            isSecure = true
        } else if Self.isName(name, "httponly") {
            isHTTPOnly = true
        } else if Self.isName(name, "domain") {
            let text = value.first == UInt8(ascii: ".") ? value.dropFirst() : value
            // An empty one does not undo an earlier one.
            if !text.isEmpty { domain = Self.lowercased(text) }
        } else if Self.isName(name, "expires") {
            expires = CookieDate.date(from: value) ?? expires
        } else if Self.isName(name, "max-age") {
            maxAge = Self.seconds(value) ?? maxAge
        } else if Self.isName(name, "samesite") {
            sameSite = Self.sameSite(value)
        }
    }

    /// Removes and returns the part before the next semicolon.
    private static func next(_ rest: inout Bytes) -> Bytes {
        let end = rest.firstIndex(of: UInt8(ascii: ";")) ?? rest.endIndex
        let part = rest[..<end]
        rest = end < rest.endIndex ? rest[(end + 1)...] : rest[end...]
        return part
    }

    /// The number of seconds, without overflow; `nil` if the value is not a number.
    private static func seconds(_ value: Bytes) -> Int? {
        let isNegative = value.first == UInt8(ascii: "-")
        let digits = isNegative ? value.dropFirst() : value
        guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else { return nil }
        guard !isNegative else { return 0 }
        return digits.reduce(0) { min($0 * 10 + Int($1 &- 0x30), 1 << 40) }
    }

    private static func sameSite(_ value: Bytes) -> Cookie.SameSite? {
        if isName(value, "lax") { return .lax }
        if isName(value, "strict") { return .strict }
        return isName(value, "none") ? .unrestricted : nil
    }

    /// Whether a byte is a control character that no cookie may contain. Tabs are allowed.
    static func isControl(_ byte: UInt8) -> Bool { byte.isFieldControl }

    static func trimmed(_ bytes: Bytes) -> Bytes {
        var (start, end) = (bytes.startIndex, bytes.endIndex)
        while start < end, bytes[start].isBlank { start += 1 }
        while start < end, bytes[end - 1].isBlank { end -= 1 }
        return bytes[start..<end]
    }

    /// Whether the bytes are a name. The case does not matter.
    ///
    /// - Parameter name: The name in lower case.
    private static func isName(_ bytes: Bytes, _ name: StaticString) -> Bool {
        guard bytes.count == name.utf8CodeUnitCount else { return false }
        return name.withUTF8Buffer { name in
            var index = bytes.startIndex
            for expected in name {
                guard lowercased(bytes[index]) == expected else { return false }
                index += 1
            }
            return true
        }
    }

    static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5a).contains(byte) ? byte | 0x20 : byte }

    static func lowercased(_ bytes: Bytes) -> String {
        String(unsafeUninitializedCapacity: bytes.count) { target in
            var count = 0
            for byte in bytes {
                target[count] = lowercased(byte)
                count += 1
            }
            return count
        }
    }
}
