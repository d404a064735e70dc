/// A network interface of this machine, as it was when a status was made.
public struct NetworkInterface: Sendable, Hashable, CustomStringConvertible {
    /// What an interface is, as far as the system tells.
    public enum Kind: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// The machine's way to itself.
        case loopback
        /// A wired adapter; also one of a virtual machine, which cannot see what lies behind it.
        case ethernet
        /// A wireless adapter.
        case wireless
        /// A mobile broadband modem.
        case wwan
        /// A PPP link: a modem, a DSL line or a tunnel. The system does not tell which.
        case pointToPoint
        /// A tunnel over another network, such as WireGuard's or one of TUN/TAP.
        case tunnel
        /// Made by software: a bridge, a bond, a VLAN, and the interface of a container whatever lies behind it.
        case virtual
        /// Something else.
        case other

        /// The case's name.
        public var description: String { rawValue }
    }

    /// The name, such as `eth0`.
    public let name: String
    /// The number, unique within a network namespace while the interface exists.
    public let index: UInt32
    /// What it is.
    public let kind: Kind

    /// Makes one. For doubles in tests.
    public init(name: String, index: UInt32, kind: Kind) {
        self.name = name
        self.index = index
        self.kind = kind
    }

    /// Name and kind, such as “eth0 (ethernet)”.
    public var description: String { "\(name) (\(kind))" }
}
