#if Server || Inspector
    import EssentialsHTTP
    import EssentialsTools

    /// The servers as attributes: at most so many, and one for all others.
    final class OriginTable: Sendable {
        /// A server as attributes. The table makes one for each origin, so that comparing two is comparing references.
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

        private struct State {
            var servers: [Origin: Server] = [:]
            /// The server that was asked for last. The next request usually has the same one.
            var last: (origin: Origin, server: Server)?
        }

        private let state = Mutex(State())
        private let limit: Int

        init(limit: Int) { self.limit = limit }

        subscript(origin: Origin) -> Server {
            state.withLock { state in
                if let last = state.last, last.origin == origin { return last.server }
                let server = state.servers[origin] ?? make(origin, &state)
                state.last = (origin, server)
                return server
            }
        }

        private func make(_ origin: Origin, _ state: inout State) -> Server {
            guard state.servers.count < limit else { return .others }
            let server = Server(address: origin.host.text, port: "\(origin.port)")
            state.servers[origin] = server
            return server
        }
    }
#endif
