public import EssentialsHTTP
public import Logging

extension CurlTransport {
    /// What holds for every request of a transport.
    public struct Configuration: Sendable {
        /// How many idle connections are kept. 256.
        public var connectionCacheSize: Int = 256
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

extension CurlTransport.Configuration {
    /// The overrides as libcurl reads them: texts with a NUL behind each and one more at the end.
    var resolveBlock: [CChar]? {
        guard !addressOverrides.isEmpty else { return nil }
        let texts = addressOverrides.map { "\($0.host.text):\($0.port):\($0.address)" }
        return texts.flatMap { Array($0.utf8CString) } + [0]
    }
}
