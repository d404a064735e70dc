/// Creates the requests to the kernel.
enum RouteRequest {
    /// A request for the route to an address. No packet is sent to that address.
    static func route(to address: NetworkAddress, sequence: UInt32) -> NetlinkMessage {
        let bits = UInt8(address.bytes.count * 8)
        // struct rtmsg: family, lengths of destination and source, tos, table, protocol, scope, type, flags.
        var payload: [UInt8] = [address.family, bits, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        payload += NetlinkAttributes.encoded(NetlinkNumber.routeDestination, address.bytes)
        if address.scope != 0 {
            var scope: [UInt8] = []
            scope.append(number: address.scope)
            payload += NetlinkAttributes.encoded(NetlinkNumber.routeInterface, scope)
        }
        return NetlinkMessage(
            type: NetlinkNumber.getRoute, flags: NetlinkNumber.request, sequence: sequence, payload: payload)
    }

    /// A request for the description of an interface.
    static func link(_ index: UInt32, sequence: UInt32) -> NetlinkMessage {
        // struct ifinfomsg: family, padding, hardware type, index, flags, changed flags.
        var payload: [UInt8] = [0, 0, 0, 0]
        payload.append(number: index)
        payload += [0, 0, 0, 0, 0, 0, 0, 0]
        var mask: [UInt8] = []
        mask.append(number: NetlinkNumber.withoutStatistics)
        payload += NetlinkAttributes.encoded(NetlinkNumber.linkExtensions, mask)
        return NetlinkMessage(
            type: NetlinkNumber.getLink, flags: NetlinkNumber.request, sequence: sequence, payload: payload)
    }
}
