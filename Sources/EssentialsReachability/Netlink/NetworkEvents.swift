/// Tells that something about the network has changed. A seam for tests.
protocol NetworkEvents: Sendable {
    /// Readable when there is something to take.
    var descriptor: Int32 { get }
    /// Takes all that there is.
    func drain() -> NetworkChange
    /// Frees the descriptor. Once.
    func close()
}

/// What came of taking events.
enum NetworkChange: Sendable, Hashable {
    case none
    case changed
    /// Nothing will be told any more.
    case lost
}

/// The kernel's own announcements.
struct KernelEvents: NetworkEvents {
    let socket: NetlinkSocket
    /// So many datagrams are taken in a row, so that a flood of them does not keep the thread from anything else.
    private static let maximumDatagrams = 1000

    var descriptor: Int32 { socket.descriptor }

    init() throws(ReachabilityError) { self.init(socket: try NetlinkSocket(groups: NetlinkNumber.groups)) }

    /// Listens to a socket that has joined its groups. Takes it over.
    init(socket: NetlinkSocket) { self.socket = socket }

    func drain() -> NetworkChange {
        var change = NetworkChange.none
        for _ in 0..<Self.maximumDatagrams {
            switch socket.receive() {
            case .nothing: return change
            case .failed: return .lost
            case .foreign: continue
            // What was missed may have been anything.
            case .overrun, .cut: change = .changed
            case .datagram(let bytes): if Self.isChange(bytes) { change = .changed }
            }
        }
        return change
    }

    func close() { socket.close() }

    /// Whether a datagram tells of a change that can matter; one that cannot be read may.
    static func isChange(_ datagram: [UInt8]) -> Bool {
        let (messages, isWhole) = NetlinkMessage.read(datagram)
        return !isWhole
            || messages.contains { NetlinkNumber.changes.contains($0.type) || $0.type == NetlinkNumber.overrun }
    }
}
