#if Server || Inspector
    import EssentialsHTTP

    /// The servers as attributes: at most so many, and one for all others.
    struct OriginTable: Sendable {
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

        private let servers: LimitedTable<Address, Server>

        init(limit: Int) {
            servers = LimitedTable(limit: limit, others: .others) { Server(address: $0.host, port: "\($0.port)") }
        }

        subscript(origin: Origin) -> Server { servers[Address(host: origin.host.text, port: origin.port)] }
    }
#endif
