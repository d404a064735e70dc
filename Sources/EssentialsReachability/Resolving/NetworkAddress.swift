import EssentialsTools

/// An IPv4 or IPv6 address, with the zone of a link-local address.
///
/// ```swift
/// NetworkAddress("192.0.2.1")
/// NetworkAddress("[2001:db8::1]")
/// NetworkAddress("fe80::1%eth0")
/// ```
public struct NetworkAddress: Sendable, Hashable, CustomStringConvertible {
    /// The four or sixteen bytes in network order.
    public let bytes: [UInt8]
    /// The index of the interface of a link-local address; otherwise 0.
    public let scope: UInt32

    /// Parses an address literal; `nil` if the text is malformed. An IPv6 address can have brackets.
    ///
    /// A zone is the name or index of an interface. A name is looked up in the calling thread's network namespace, and
    /// the result is `nil` if there is no such interface. An IPv4-mapped IPv6 address (`::ffff:0:0/96`, RFC 4291,
    /// 2.5.5.2) becomes the IPv4 address, because the packets use IPv4.
    public init?(_ text: String) {
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]") && text.utf8.count > 2
        let literal = isBracketed ? String(text.dropFirst().dropLast()) : text
        guard !literal.utf8.contains(0) else { return nil }
        let parts = literal.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        var bytes = [UInt8](repeating: 0, count: 16)
        if parts.count == 1, !isBracketed, inet_pton(AF_INET, literal, &bytes) == 1 {
            self.init(bytes: Array(bytes.prefix(4)))
            return
        }
        guard let address = parts.first, inet_pton(AF_INET6, String(address), &bytes) == 1 else { return nil }
        guard parts.count == 2 else {
            self.init(bytes: bytes)
            return
        }
        let zone = String(parts[1])
        let index = UInt32(zone) ?? if_nametoindex(zone)
        guard index != 0 else { return nil }
        self.init(bytes: bytes, scope: index)
    }

    /// Creates an address from its bytes; `nil` unless there are four or sixteen.
    public init?(bytes: [UInt8], scope: UInt32 = 0) {
        let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]
        switch bytes.count {
        case 4: (self.bytes, self.scope) = (bytes, 0)
        case 16 where bytes.starts(with: mappedPrefix): (self.bytes, self.scope) = (Array(bytes.suffix(4)), 0)
        case 16: (self.bytes, self.scope) = (bytes, scope)
        default: return nil
        }
    }

    /// Creates an address from a result of the system's resolver; `nil` for other address families.
    init?(_ address: UnsafePointer<sockaddr>, size: Int) {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET where size >= MemoryLayout<sockaddr_in>.size:
            var value = raw.loadUnaligned(as: sockaddr_in.self)
            self.init(bytes: Swift.withUnsafeBytes(of: &value.sin_addr) { Array($0) })
        case AF_INET6 where size >= MemoryLayout<sockaddr_in6>.size:
            var value = raw.loadUnaligned(as: sockaddr_in6.self)
            self.init(bytes: Swift.withUnsafeBytes(of: &value.sin6_addr) { Array($0) }, scope: value.sin6_scope_id)
        default: return nil
        }
    }

    /// The kernel's constant for the address family.
    var family: UInt8 { UInt8(bytes.count == 4 ? AF_INET : AF_INET6) }

    /// The address as text (RFC 5952), with its zone as a number.
    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(Int32(family), bytes, &text, socklen_t(text.count)) != nil else { return "" }
        let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return scope == 0 ? address : "\(address)%\(scope)"
    }
}
