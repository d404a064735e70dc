import EssentialsTools

/// Looks up the routes to addresses. Tests replace it.
protocol RouteLookup: Sendable {
    /// The status of each address in order; `unknown` if the kernel could not determine it.
    func statuses(of addresses: [NetworkAddress]) -> [ReachabilityStatus]
    /// Closes the descriptor. It must be called exactly once.
    func close()
}

/// Looks up routes in the kernel's tables. It keeps its socket open, because a socket belongs to the network namespace
/// of the thread that opens it.
struct KernelRoutes: RouteLookup {
    private let socket: NetlinkSocket
    private let sysfs: SysfsTree
    /// The timeout in milliseconds for a reply. It is only a safeguard, because the kernel replies before sending the
    /// request returns.
    private static let replyTimeout: Int32 = 100
    /// The maximum number of unrelated datagrams that are skipped. An earlier request leaves at most one reply.
    private static let maximumUnrelated = 16

    init(sysfsRoot: String) throws(ReachabilityError) {
        sysfs = SysfsTree(root: sysfsRoot)
        socket = try NetlinkSocket(groups: 0)
    }

    func statuses(of addresses: [NetworkAddress]) -> [ReachabilityStatus] {
        var round = LookupRound(routes: self)
        return addresses.map { round.status(of: $0) }
    }

    func close() { socket.close() }

    /// One round of lookups, in which each interface is requested once.
    private struct LookupRound {
        let routes: KernelRoutes
        var sequence: UInt32 = 0
        var links: [UInt32: Result<LinkReply, RouteError>] = [:]

        mutating func status(of address: NetworkAddress) -> ReachabilityStatus {
            sequence += 1
            guard
                let reply = routes.request(RouteRequest.route(to: address, sequence: sequence), { RouteReply($0) })
            else { return .unknown }
            switch reply {
            case .local(let index): return isLoopbackDown(index) ? .unreachable(.interfaceDown) : .local
            case .refused(let error): return Self.status(error)
            case .route(let index, let hasGateway):
                switch link(index) {
                case .success(let link) where link.canSend:
                    let interface = routes.interface(link)
                    return hasGateway ? .routed(interface) : .direct(interface)
                case .success: return .unreachable(.interfaceDown)
                case .failure(let error): return Self.status(error)
                }
            }
        }

        private static func status(_ error: RouteError) -> ReachabilityStatus {
            error.isAboutKernel ? .unknown : .unreachable(error)
        }

        /// The routes to this machine's own addresses remain when its loopback interface is down.
        private mutating func isLoopbackDown(_ index: UInt32) -> Bool {
            guard index != 0, case .success(let link) = link(index) else { return false }
            return link.isLoopback && !link.canSend
        }

        private mutating func link(_ index: UInt32) -> Result<LinkReply, RouteError> {
            if let known = links[index] { return known }
            sequence += 1
            let result = routes.link(index, sequence: sequence)
            links[index] = result
            return result
        }
    }

    private func link(_ index: UInt32, sequence: UInt32) -> Result<LinkReply, RouteError> {
        let reply = request(RouteRequest.link(index, sequence: sequence)) { message in
            if let code = message.errorCode { return Result<LinkReply, RouteError>.failure(RouteError(code: code)) }
            return LinkReply(message).map { .success($0) }
        }
        return reply ?? .failure(RouteError(code: EAGAIN))
    }

    private func interface(_ link: LinkReply) -> NetworkInterface {
        let kind = InterfaceKindRules.kind(of: link, entry: sysfs.entry(name: link.name, index: link.index))
        return NetworkInterface(name: link.name, index: link.index, kind: kind)
    }

    /// Sends a request and reads its reply; `nil` without a reply.
    private func request<Reply>(_ request: NetlinkMessage, _ read: (NetlinkMessage) -> Reply?) -> Reply? {
        guard socket.send(request) == 0 else { return nil }
        for _ in 0..<Self.maximumUnrelated {
            switch socket.receive() {
            case .nothing:
                var pending = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&pending, 1, Self.replyTimeout) > 0 else { return nil }
            case .datagram(let bytes):
                let messages = NetlinkMessage.read(bytes).messages
                if let reply = messages.first(where: { $0.sequence == request.sequence }) { return read(reply) }
            case .foreign, .cut, .overrun: continue
            case .failed: return nil
            }
        }
        return nil
    }
}
