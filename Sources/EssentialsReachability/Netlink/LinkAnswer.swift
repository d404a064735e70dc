/// What the kernel said about an interface.
struct LinkAnswer: Sendable, Hashable {
    var index: UInt32
    var name: String
    /// A number of `linux/if_arp.h`.
    var hardwareType: UInt16
    /// The flags of netdevice(7).
    var flags: UInt32
    /// The operational state (RFC 2863, `ifOperStatus`), in the kernel's numbers.
    var state: UInt8
    /// Whether there is a carrier; nil from kernels that do not say.
    var hasCarrier: Bool?
    /// How the driver calls its kind of interface, such as `veth`; physical ones have none.
    var driverKind: String?

    private static let upFlag: UInt32 = 0x1
    private static let loopbackFlag: UInt32 = 0x8

    var isLoopback: Bool { flags & Self.loopbackFlag != 0 }

    /// Whether a packet can leave by it.
    ///
    /// Routes stay when a cable is pulled, so the state decides: up, or unknown, as drivers leave it that cannot tell.
    var canSend: Bool { flags & Self.upFlag != 0 && (state == 0 || state == 6) && hasCarrier != false }
}

extension LinkAnswer {
    /// Reads the answer; nil when the message is none.
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
