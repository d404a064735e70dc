/// Decides what an interface is.
enum InterfaceKindRules {
    /// The kind, from what the kernel's link message says and from sysfs, where it has an entry for the interface.
    ///
    /// In a network namespace the mounted sysfs may be another namespace's and have none; then the driver's own name
    /// for its kind, which physical devices do not have, tells what is made by software.
    static func kind(of link: LinkAnswer, entry: SysfsEntry?) -> NetworkInterface.Kind {
        if link.isLoopback || link.hardwareType == HardwareType.loopback { return .loopback }
        if let entry, entry.isWireless || entry.deviceType == "wlan" { return .wireless }
        if entry?.deviceType == "wwan" || link.hardwareType == HardwareType.rawIP { return .wwan }
        if link.hardwareType == HardwareType.ppp { return .pointToPoint }
        if isTunnel(link, entry) { return .tunnel }
        if let entry, !entry.hasDevice { return .virtual }
        if entry == nil, link.driverKind != nil { return .virtual }
        return link.hardwareType == HardwareType.ethernet ? .ethernet : .other
    }

    private static func isTunnel(_ link: LinkAnswer, _ entry: SysfsEntry?) -> Bool {
        if let entry, entry.hasTunFlags || entry.deviceType == "wireguard" { return true }
        return HardwareType.tunnels.contains(link.hardwareType) || tunnelDrivers.contains(link.driverKind ?? "")
    }

    private static let tunnelDrivers: Set<String> = [
        "tun", "wireguard", "ipip", "sit", "gre", "gretap", "erspan", "ip6tnl", "ip6gre", "ip6gretap", "ip6erspan",
        "vti", "vti6", "xfrm", "ovpn",
    ]
}

/// Numbers of `linux/if_arp.h`, which Swift does not import.
private enum HardwareType {
    static let ethernet: UInt16 = 1
    static let ppp: UInt16 = 512
    static let rawIP: UInt16 = 519
    static let loopback: UInt16 = 772
    /// None, IP in IP, IPv6 in IP, SIT, GRE, and GRE over IPv6.
    static let tunnels: Set<UInt16> = [65534, 768, 769, 776, 778, 823]
}
