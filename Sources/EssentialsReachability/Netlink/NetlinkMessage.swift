/// A netlink message (RFC 3549, 2.2): a header of 16 bytes and a payload.
///
/// Swift imports none of the kernel's netlink headers, so messages are encoded and decoded byte by byte, in native byte
/// order.
struct NetlinkMessage: Sendable, Hashable {
    var type: UInt16
    var flags: UInt16 = 0
    var sequence: UInt32 = 0
    var port: UInt32 = 0
    var payload: [UInt8] = []

    static let headerSize = 16

    /// Decodes the messages of a datagram.
    ///
    /// - Returns: The complete messages, and whether the datagram contains nothing else.
    static func read(_ datagram: [UInt8]) -> (messages: [NetlinkMessage], isWhole: Bool) {
        var messages: [NetlinkMessage] = []
        var rest = datagram[...]
        while !rest.isEmpty {
            guard let length = rest.number(at: 0, as: UInt32.self), let type = rest.number(at: 4, as: UInt16.self),
                let flags = rest.number(at: 6, as: UInt16.self), let sequence = rest.number(at: 8, as: UInt32.self),
                let port = rest.number(at: 12, as: UInt32.self), length >= headerSize, length <= rest.count
            else { return (messages, false) }
            let payload = Array(rest.prefix(Int(length)).dropFirst(headerSize))
            messages.append(
                NetlinkMessage(type: type, flags: flags, sequence: sequence, port: port, payload: payload))
            rest = rest.dropFirst(padded(Int(length)))
        }
        return (messages, true)
    }

    /// The encoded message.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: UInt32(Self.headerSize + payload.count))
        bytes.append(number: type)
        bytes.append(number: flags)
        bytes.append(number: sequence)
        bytes.append(number: port)
        return bytes + payload
    }

    /// The error number of an error message; 0 is an acknowledgement, and `nil` another type of message.
    var errorCode: Int32? {
        guard type == NetlinkNumber.error else { return nil }
        // The kernel sends the negated number. The wrapping subtraction is for the number that cannot be negated.
        return payload[...].number(at: 0, as: Int32.self).map { 0 &- $0 }
    }

    /// The length of a message or attribute, padded to four bytes.
    static func padded(_ length: Int) -> Int { (length + 3) & ~3 }
}

/// The attributes after the fixed part of a message (RFC 3549, 2.3.2.2).
struct NetlinkAttributes: Sendable, Hashable {
    private var values: [UInt16: ArraySlice<UInt8>] = [:]
    /// The upper two bits of a type are flags.
    private static let typeMask: UInt16 = 0x3fff

    /// Decodes attributes up to the first incomplete one.
    init(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while let length = rest.number(at: 0, as: UInt16.self), let type = rest.number(at: 2, as: UInt16.self),
            length >= 4, length <= rest.count
        {
            values[type & Self.typeMask] = rest.prefix(Int(length)).dropFirst(4)
            rest = rest.dropFirst(NetlinkMessage.padded(Int(length)))
        }
    }

    func bytes(_ type: UInt16) -> ArraySlice<UInt8>? { values[type] }

    func number<Number: FixedWidthInteger>(_ type: UInt16, as number: Number.Type) -> Number? {
        values[type]?.number(at: 0, as: number)
    }

    /// A text up to its zero byte.
    func text(_ type: UInt16) -> String? {
        values[type].map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    func nested(_ type: UInt16) -> NetlinkAttributes? { values[type].map { NetlinkAttributes($0) } }

    /// Encodes one attribute.
    static func encoded(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: UInt16(4 + value.count))
        bytes.append(number: type)
        bytes += value
        return bytes + Array(repeating: 0, count: NetlinkMessage.padded(bytes.count) - bytes.count)
    }
}

extension ArraySlice<UInt8> {
    /// The number at an offset; `nil` if it is out of bounds.
    func number<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type) -> Number? {
        let piece = dropFirst(offset).prefix(MemoryLayout<Number>.size)
        guard piece.count == MemoryLayout<Number>.size else { return nil }
        return piece.withUnsafeBytes { $0.loadUnaligned(as: Number.self) }
    }
}

extension [UInt8] {
    mutating func append(number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number) { append(contentsOf: $0) }
    }
}
