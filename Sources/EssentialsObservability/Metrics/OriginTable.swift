#if Server || Inspector
    import EssentialsHTTP
    import EssentialsTools

    /// The servers as attributes: at most so many, and one for all others.
    final class OriginTable: Sendable {
        /// A server as attributes. The table makes one for each host and port, so that comparing two is comparing references.
        final class Server: Hashable, Sendable {
            let attributes: [(String, String)]

            static let others = Server(address: other, port: other)
            /// The server of a call that has none, because its request is invalid.
            static let none = Server(address: "", port: "")

            fileprivate init(address: String, port: String) {
                attributes = [("server.address", address), ("server.port", port)]
            }

            static func == (one: Server, another: Server) -> Bool { one === another }
            func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
        }

        private struct Address: Hashable {
            let host: String
            let port: UInt16
        }

        private struct State {
            var servers: [Address: Server] = [:]
            /// The server that was asked for last. The next request usually has the same one.
            var last: (origin: Origin, server: Server)?
        }

        private let state = Mutex(State())
        private let limit: Int

        init(limit: Int) { self.limit = limit }

        subscript(origin: Origin) -> Server {
            state.withLock { state in
                if let last = state.last, last.origin == origin { return last.server }
                let address = Address(host: origin.host.text, port: origin.port)
                let server = state.servers[address] ?? make(address, &state)
                state.last = (origin, server)
                return server
            }
        }

        private func make(_ address: Address, _ state: inout State) -> Server {
            guard state.servers.count < limit else { return .others }
            let server = Server(address: address.host, port: "\(address.port)")
            state.servers[address] = server
            return server
        }
    }
#endif
