public import EssentialsTransport
public import Logging

extension CurlTransport {
    /// The settings that apply to every request of a transport.
    public struct Configuration: Sendable {
        /// The maximum number of concurrent connections to one origin. Further requests wait. The default is 256.
        ///
        /// An origin that speaks HTTP/2 can have ``streamsPerConnection`` times as many concurrent requests. If its
        /// server allows fewer requests on a connection, there may be more connections.
        public var connectionsPerOrigin: Int = 256
        /// The maximum number of requests in flight. Further requests wait. The default is 2,048.
        public var requestsInFlight: Int = 2_048
        /// The maximum number of waiting requests. A further request fails as `queueFull`. The default is 10,000.
        public var queueLimit: Int = 10_000
        /// The maximum number of requests that share an HTTP/2 connection, if its server allows as many. The default is
        /// 100.
        public var streamsPerConnection: Int = 100
        /// The maximum number of idle connections that are kept. The default is 256. 0 keeps none.
        ///
        /// While several requests share an HTTP/2 connection, additional connections may be kept.
        public var connectionCacheSize: Int = 256
        /// The longest time for which a connection may be idle and still be reused. The default is 60 seconds.
        ///
        /// A server that announces a shorter time in `Keep-Alive: timeout=` (HTTP/1.1) shortens it to two seconds less
        /// than that, and at least one second. When a request is sent to such a server, libcurl also closes connections
        /// to other servers that were idle for that long.
        public var idleLifetime: Duration = .seconds(60)
        /// A connection older than this is not reused. The default is `nil`, which means no limit.
        public var connectionLifetime: Duration?
        /// The time without traffic after which the system begins to probe the peer (tcp(7)). The default is 60
        /// seconds. `nil` means that it never does.
        public var keepAliveInterval: Duration? = .seconds(60)
        /// How long a resolved address is remembered, rounded up to whole seconds. The default is 60 seconds. Zero
        /// means that no address is remembered.
        public var addressLifetime: Duration = .seconds(60)
        /// How much earlier an IPv6 address is tried than an IPv4 address (RFC 8305, 5). The default is 200 ms.
        public var happyEyeballsDelay: Duration = .milliseconds(200)
        /// The number of engine threads that share the work. The default is 1. All requests to one origin stay on one
        /// thread.
        ///
        /// ``requestsInFlight``, ``queueLimit`` and ``connectionCacheSize`` are divided among the threads as evenly as
        /// possible. Each of them must be at least the number of threads, or 0 if that is allowed.
        public var shards: Int = 1
        /// The choice of the proxy for each request. The default is the proxy that the process's environment names.
        public var proxy: ProxyPolicy = .environment
        /// The trust policy, with the client's identity, for proxies that are reached over TLS. The default trusts the
        /// system's anchors. The servers behind a proxy are judged by the transport's own policy.
        public var proxyTrust: TrustPolicy = .system
        /// A Unix-domain socket that every request goes to, whatever the host of its URL is. The default is `nil`.
        ///
        /// It is a path, or `@` and a name in the abstract namespace (unix(7)). No proxy is used then, and each request
        /// opens its own connection.
        public var unixSocket: String?
        /// The network interface or local address to send from, such as `eth0` or `192.0.2.1`. The default is `nil`,
        /// which leaves the choice to the system.
        public var networkInterface: String?
        /// The `User-Agent` of requests that set none. `nil` sends no such field.
        public var userAgent: String? = "ServiceEssentials"
        /// Addresses that replace name resolution.
        public var addressOverrides: [AddressOverride] = []
        /// Receives one debug message for each exchange, without query, fields or bodies. The default logs nothing.
        public var logger = Logger(label: "essentials.http", factory: { _ in SwiftLogNoOpLogHandler() })
        /// The observers that receive an event when a connection opens or closes. The default is none.
        public var connectionObservers: [any ConnectionObserver] = []

        /// Creates a configuration of defaults.
        public init() {}
    }

    /// The address that replaces name resolution for a host and port.
    public struct AddressOverride: Sendable, Hashable {
        /// The host of the URLs.
        public let host: HostName
        /// The port of the URLs.
        public let port: UInt16
        /// The address to connect to.
        public let address: HostName

        /// Creates an override.
        ///
        /// - Throws: `invalidRequest` if `address` is a name or `host` is an address.
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
