/// Constants of `linux/netlink.h`, `linux/rtnetlink.h` and `linux/if_link.h`, which Swift does not import. They are
/// part of the kernel's binary interface and never change.
enum NetlinkNumber {
    // The protocol, and the flag of every request.
    static let routeProtocol: Int32 = 0
    static let request: UInt16 = 0x1

    // Message types.
    static let error: UInt16 = 2
    static let overrun: UInt16 = 4
    static let newLink: UInt16 = 16
    static let getLink: UInt16 = 18
    static let newRoute: UInt16 = 24
    static let getRoute: UInt16 = 26
    /// The types for new and deleted links, addresses, routes, rules and next hops.
    static let changes: Set<UInt16> = [16, 17, 20, 21, 24, 25, 32, 33, 104, 105]

    /// The multicast groups, as bits, of everything that can change a route: links; IPv4 addresses, routes and rules;
    /// the same for IPv6; next hops. A kernel without a group ignores its bit.
    static let groups: UInt32 = [1, 5, 7, 8, 9, 11, 19, 32].reduce(0) { $0 | 1 << UInt32($1 - 1) }

    // Attributes of routes.
    static let routeDestination: UInt16 = 1
    static let routeInterface: UInt16 = 4
    static let routeGateway: UInt16 = 5
    static let routeVia: UInt16 = 18

    // Attributes of links.
    static let linkName: UInt16 = 3
    static let linkState: UInt16 = 16
    static let linkInformation: UInt16 = 18
    static let linkDriverKind: UInt16 = 1
    static let linkExtensions: UInt16 = 29
    static let linkCarrier: UInt16 = 33
    /// The flag that omits the statistics from a reply.
    static let withoutStatistics: UInt32 = 1 << 3
}
