/// The kernel's description of an interface.
struct LinkReply: Sendable, Hashable {
    var index: UInt32
    var name: String
    /// A constant of `linux/if_arp.h`.
    var hardwareType: UInt16
    /// The flags of netdevice(7).
    var flags: UInt32
    /// The operational state (RFC 2863, `ifOperStatus`) as a constant of the kernel.
    var state: UInt8
    /// Whether there is a carrier; `nil` if the kernel does not report it.
    var hasCarrier: Bool?
    /// The driver's name for the kind of interface, such as `veth`; `nil` for physical interfaces.
    var driverKind: String?

    private static let upFlag: UInt32 = 0x1
    private static let loopbackFlag: UInt32 = 0x8

    var isLoopback: Bool { flags & Self.loopbackFlag != 0 }

    /// Whether a packet can leave by this interface.
    ///
    /// Routes remain when a cable is unplugged, so the operational state decides. It must be “up” or “unknown”, which
    /// drivers report that cannot detect it.
    var canSend: Bool { flags & Self.upFlag != 0 && (state == 0 || state == 6) && hasCarrier != false }
}

extension LinkReply {
    /// Parses a reply; `nil` if the message does not describe an interface.
    init?(_ message: NetlinkMessage) {
        let payload = message.payload[...]
        guard message.type == NetlinkNumber.newLink, payload.count >= 16,
            let type = payload.number(at: 2, as: UInt16.self), let index = payload.number(at: 4, as: UInt32.self),
            let flags = payload.number(at: 8, as: UInt32.self)
        else { return nil }
        let attributes = NetlinkAttributes(payload.dropFirst(16))
        let kind = attributes.nested(NetlinkNumber.linkInformation)?.text(NetlinkNumber.linkDriverKind)
        self.init(
            index: index, name: attributes.text(NetlinkNumber.linkName) ?? "", hardwareType: type, flags: flags,
            state: attributes.number(NetlinkNumber.linkState, as: UInt8.self) ?? 0,
            hasCarrier: attributes.number(NetlinkNumber.linkCarrier, as: UInt8.self).map { $0 != 0 },
            driverKind: kind)
    }
}
