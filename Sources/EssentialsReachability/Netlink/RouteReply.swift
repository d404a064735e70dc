import EssentialsTools

/// The kernel's reply about the route to an address.
enum RouteReply: Sendable, Hashable {
    /// The address is one of this machine's own. The interface is the one that packets to it use, or 0 if it is not
    /// given.
    case local(interface: UInt32)
    /// The route uses an interface, with or without a gateway.
    case route(interface: UInt32, hasGateway: Bool)
    /// There is no route, or the kernel failed.
    case refused(RouteError)

    /// Parses a reply; `nil` if the message does not describe a route.
    init?(_ message: NetlinkMessage) {
        if let code = message.errorCode {
            guard code != 0 else { return nil }
            self = .refused(RouteError(code: code))
            return
        }
        guard message.type == NetlinkNumber.newRoute, message.payload.count >= 12 else { return nil }
        let attributes = NetlinkAttributes(message.payload.dropFirst(12))
        switch message.payload[7] {
        case 2: self = .local(interface: attributes.number(NetlinkNumber.routeInterface, as: UInt32.self) ?? 0)
        // The kernel reports these as errors. A route of such a type means the same.
        case 6: self = .refused(RouteError(code: EINVAL))
        case 7: self = .refused(RouteError(code: EHOSTUNREACH))
        case 8: self = .refused(RouteError(code: EACCES))
        case 9: self = .refused(.noRoute)
        default:
            guard let index = attributes.number(NetlinkNumber.routeInterface, as: UInt32.self) else {
                self = .refused(.noRoute)
                return
            }
            let hasGateway =
                attributes.bytes(NetlinkNumber.routeGateway) != nil
                || attributes.bytes(NetlinkNumber.routeVia) != nil
            self = .route(interface: index, hasGateway: hasGateway)
        }
    }
}
