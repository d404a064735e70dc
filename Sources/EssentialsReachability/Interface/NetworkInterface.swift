/// A network interface of this machine, as it was when the status was determined.
public struct NetworkInterface: Sendable, Hashable, CustomStringConvertible {
    /// The kind of an interface, as far as the system knows it.
    public enum Kind: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// The loopback interface.
        case loopback
        /// A wired adapter. In a virtual machine it is the virtual adapter, whatever the host uses.
        case ethernet
        /// A wireless adapter.
        case wireless
        /// A mobile broadband modem.
        case wwan
        /// A PPP link: a modem, a DSL line or a tunnel. The system does not know which.
        case pointToPoint
        /// A tunnel over another network, such as a WireGuard or TUN/TAP interface.
        case tunnel
        /// A software interface: a bridge, a bond, a VLAN, or the interface of a container, whatever the host uses.
        case virtual
        /// Any other kind.
        case other

        /// The name of the case.
        public var description: String { rawValue }
    }

    /// The name, such as `eth0`.
    public let name: String
    /// The index, which is unique within a network namespace while the interface exists.
    public let index: UInt32
    /// The kind of the interface.
    public let kind: Kind

    /// Creates an interface for a test double.
    public init(name: String, index: UInt32, kind: Kind) {
        self.name = name
        self.index = index
        self.kind = kind
    }

    /// The name and the kind, such as “eth0 (ethernet)”.
    public var description: String { "\(name) (\(kind))" }
}
