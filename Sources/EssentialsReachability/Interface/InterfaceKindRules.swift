/// Determines the kind of an interface.
enum InterfaceKindRules {
    /// The kind, from the kernel's link message and from the interface's entry in sysfs, if there is one.
    ///
    /// In a network namespace, the mounted sysfs may belong to another namespace and have no entry. Then the driver's
    /// kind, which physical devices do not have, indicates a virtual interface.
    static func kind(of link: LinkReply, entry: SysfsEntry?) -> NetworkInterface.Kind {
        if link.isLoopback || link.hardwareType == HardwareType.loopback { return .loopback }
        if let entry, entry.isWireless || entry.deviceType == "wlan" { return .wireless }
        if entry?.deviceType == "wwan" || link.hardwareType == HardwareType.rawIP { return .wwan }
        if link.hardwareType == HardwareType.ppp { return .pointToPoint }
        if isTunnel(link, entry) { return .tunnel }
        if let entry, !entry.hasDevice { return .virtual }
        if entry == nil, link.driverKind != nil { return .virtual }
        return link.hardwareType == HardwareType.ethernet ? .ethernet : .other
    }

    private static func isTunnel(_ link: LinkReply, _ entry: SysfsEntry?) -> Bool {
        if let entry, entry.hasTunFlags || entry.deviceType == "wireguard" { return true }
        return HardwareType.tunnels.contains(link.hardwareType) || tunnelDrivers.contains(link.driverKind ?? "")
    }

    private static let tunnelDrivers: Set<String> = [
        "tun", "wireguard", "ipip", "sit", "gre", "gretap", "erspan", "ip6tnl", "ip6gre", "ip6gretap", "ip6erspan",
        "vti", "vti6", "xfrm", "ovpn",
    ]
}

/// Constants of `linux/if_arp.h`, which Swift does not import.
private enum HardwareType {
    static let ethernet: UInt16 = 1
    static let ppp: UInt16 = 512
    static let rawIP: UInt16 = 519
    static let loopback: UInt16 = 772
    /// ARPHRD_NONE, TUNNEL, TUNNEL6, SIT, IPGRE and IP6GRE.
    static let tunnels: Set<UInt16> = [65534, 768, 769, 776, 778, 823]
}
