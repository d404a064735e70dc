#if Server || Inspector
    import EssentialsHTTP
    import EssentialsTools

    /// The servers as attributes: at most so many, and one for all others.
    final class OriginTable: Sendable {
        /// A server as attributes.
        struct Server: Hashable, Sendable {
            let address: String
            let port: String

            static let others = Server(address: other, port: other)
            /// The server of a call that has none, because its request is invalid.
            static let none = Server(address: "", port: "")

            var attributes: [(String, String)] { [("server.address", address), ("server.port", port)] }
        }

        private let servers = Mutex<[Origin: Server]>([:])
        private let limit: Int

        init(limit: Int) { self.limit = limit }

        subscript(origin: Origin) -> Server {
            servers.withLock { servers in
                if let known = servers[origin] { return known }
                guard servers.count < limit else { return .others }
                let server = Server(address: origin.host.text, port: "\(origin.port)")
                servers[origin] = server
                return server
            }
        }
    }
#endif
