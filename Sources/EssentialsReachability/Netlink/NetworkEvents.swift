/// A source of notifications about network changes. Tests replace it.
protocol NetworkEvents: Sendable {
    /// A descriptor that is readable while notifications are pending.
    var descriptor: Int32 { get }
    /// Receives all pending notifications.
    func drain() -> NetworkChange
    /// Closes the descriptor. It must be called exactly once.
    func close()
}

/// The result of receiving notifications.
enum NetworkChange: Sendable, Hashable {
    case none
    case changed
    /// The source has failed and delivers no more notifications.
    case lost
}

/// The notifications of the kernel.
struct KernelEvents: NetworkEvents {
    let socket: NetlinkSocket
    /// The maximum number of datagrams in one call, so that a flood of them does not block the thread.
    private static let maximumDatagrams = 1000

    var descriptor: Int32 { socket.descriptor }

    init() throws(ReachabilityError) { self.init(socket: try NetlinkSocket(groups: NetlinkNumber.groups)) }

    /// Uses a socket that has joined its groups, and takes ownership of it.
    init(socket: NetlinkSocket) { self.socket = socket }

    func drain() -> NetworkChange {
        var change = NetworkChange.none
        for _ in 0..<Self.maximumDatagrams {
            switch socket.receive() {
            case .nothing: return change
            case .failed: return .lost
            case .foreign: continue
            // The missed notification may have been a relevant change.
            case .overrun, .cut: change = .changed
            case .datagram(let bytes): if Self.isChange(bytes) { change = .changed }
            }
        }
        return change
    }

    func close() { socket.close() }

    /// Whether a datagram may report a relevant change. A malformed datagram counts as one.
    static func isChange(_ datagram: [UInt8]) -> Bool {
        let (messages, isWhole) = NetlinkMessage.read(datagram)
        return !isWhole
            || messages.contains { NetlinkNumber.changes.contains($0.type) || $0.type == NetlinkNumber.overrun }
    }
}
