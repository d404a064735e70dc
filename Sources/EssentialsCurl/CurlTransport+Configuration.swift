public import EssentialsTransport
public import Logging

extension CurlTransport {
    /// What holds for every request of a transport.
    public struct Configuration: Sendable {
        /// How many connections to one origin are used at the same time; further requests wait. 256. An origin that
        /// speaks HTTP/2 gets ``streamsPerConnection`` times as many requests at once; where its server allows fewer of
        /// them on a connection, there may be more connections.
        public var connectionsPerOrigin: Int = 256
        /// How many requests are in flight at the same time; further ones wait. 2,048.
        public var requestsInFlight: Int = 2_048
        /// How many requests may wait; one more fails as `queueFull`. 10,000.
        public var queueLimit: Int = 10_000
        /// How many requests share an HTTP/2 connection, if the server allows as many. 100.
        public var streamsPerConnection: Int = 100
        /// How many idle connections are kept; 0 for none. 256. An HTTP/2 connection that several requests share lets as
        /// many more of others be kept meanwhile.
        public var connectionCacheSize: Int = 256
        /// A connection that was idle for longer is not used again. 60 seconds.
        public var idleLifetime: Duration = .seconds(60)
        /// A connection older than this is not used again. None.
        public var connectionLifetime: Duration?
        /// After this long without traffic the system begins to probe the peer (tcp(7)). 60 seconds; nil for never.
        public var keepAliveInterval: Duration? = .seconds(60)
        /// How long a resolved address is remembered. 60 seconds; zero for not at all. Whole seconds.
        public var addressLifetime: Duration = .seconds(60)
        /// How much earlier than IPv4 an IPv6 address is tried (RFC 8305, 5). 200 ms.
        public var happyEyeballsDelay: Duration = .milliseconds(200)
        /// How many engine threads share the work; all requests to one origin stay on one. ``requestsInFlight``,
        /// ``queueLimit`` and ``connectionCacheSize`` are divided among them as evenly as they can be, so each must be
        /// enough for all of them, or 0 where that is allowed. 1.
        public var shards: Int = 1
        /// Which proxy a request goes through. What the environment says.
        public var proxy: ProxyPolicy = .environment
        /// By what proxies are judged that are themselves spoken to over TLS, and who the client is for them. The servers
        /// behind them are judged by the transport's own policy. The system's anchors.
        public var proxyTrust: TrustPolicy = .system
        /// A Unix-domain socket that every request goes to, whatever its URL's host: a path, or `@` and a name in the
        /// abstract namespace (unix(7)). No proxy is used then, and each request opens a connection of its own. None.
        public var unixSocket: String?
        /// The network interface or local address to send from, such as `eth0` or `192.0.2.1`. None.
        public var networkInterface: String?
        /// Sent as `User-Agent` where the request sets none; nil sends none.
        public var userAgent: String? = "ServiceEssentials"
        /// Addresses that are used instead of name resolution.
        public var addressOverrides: [AddressOverride] = []
        /// Receives one debug message per exchange, without query, fields or bodies. Silent by default.
        public var logger = Logger(label: "essentials.http", factory: { _ in SwiftLogNoOpLogHandler() })

        /// The defaults named beside each property.
        public init() {}
    }

    /// An address that a host and port lead to, whatever the name service says.
    public struct AddressOverride: Sendable, Hashable {
        /// The host as it stands in URLs.
        public let host: HostName
        /// The port as it stands in URLs.
        public let port: UInt16
        /// The address to connect to.
        public let address: HostName

        /// Makes an override.
        ///
        /// - Throws: `invalidRequest` when `address` is a name or `host` an address.
        public init(host: HostName, port: UInt16, address: HostName) throws(RequestFailure) {
            guard !host.isAddress else {
                throw RequestFailure(
                    .invalidRequest, "“\(host)” is an address already.", remedy: "Override a name, or change the URL.")
            }
            guard address.isAddress else {
                throw RequestFailure(
                    .invalidRequest, "“\(address)” is no IP address.", remedy: "Override a host with an address.")
            }
            self.host = host
            self.port = port
            self.address = address
        }
    }
}

extension CurlTransport {
    /// The versions of libcurl and its TLS library that this process uses, for reports.
    public static var libraryVersions: String {
        let facts = LibraryRequirements.facts()
        return "libcurl/\(facts.curlVersion) \(facts.tlsVersion)"
    }
}
