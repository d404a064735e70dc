import Glibc

/// What the kernel answered about the way to an address.
enum RouteAnswer: Sendable, Hashable {
    /// One of this machine's own addresses, and the interface that packets to it pass through; 0 when it is not named.
    case local(interface: UInt32)
    /// Over an interface, to a gateway or without one.
    case way(interface: UInt32, hasGateway: Bool)
    /// No way, or the kernel's own failure.
    case refused(RouteError)

    /// Reads the answer; nil when the message is none.
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
        // The kernel gives these as errors; a route of such a type says the same.
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
            self = .way(interface: index, hasGateway: hasGateway)
        }
    }
}
