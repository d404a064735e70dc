import CEssentials
import EssentialsTransport

extension CurlTransport.Configuration {
    static let maximumShards = 64
    /// sockaddr_un has 108 bytes, including the terminating NUL.
    static let maximumSocketPath = 107

    /// Checks the values that libcurl would misread.
    ///
    /// - Throws: `invalidRequest`, with the name of the property.
    func checked() throws(RequestFailure) -> Self {
        if let userAgent { _ = try HTTPField.checked(name: "User-Agent", value: userAgent) }
        for (name, value) in [
            ("connectionsPerOrigin", connectionsPerOrigin), ("requestsInFlight", requestsInFlight),
            ("streamsPerConnection", streamsPerConnection), ("shards", shards),
        ] where value < 1 {
            throw Self.invalid("\(name) is \(value).", "Use 1 or more.")
        }
        guard shards <= Self.maximumShards else {
            throw Self.invalid("shards is \(shards).", "Use one for each core at most.")
        }
        guard queueLimit >= 0 else { throw Self.invalid("queueLimit is negative.", "Use 0 for no queue.") }
        guard connectionCacheSize >= 0 else { throw Self.invalid("connectionCacheSize is negative.", "Use 0 or more.") }
        // A shard whose share is 0 could start no request, or would serve its origins worse than the others.
        for (name, value) in [
            ("requestsInFlight", requestsInFlight), ("queueLimit", queueLimit),
            ("connectionCacheSize", connectionCacheSize),
        ] where (1..<shards).contains(value) {
            throw Self.invalid(
                "\(name) is \(value) for \(shards) shards.", "Use one for each at least, or fewer shards.")
        }
        if let unixSocket { try Self.check(socket: unixSocket) }
        if let networkInterface, networkInterface.isEmpty || networkInterface.utf8.contains(0) {
            throw Self.invalid("networkInterface is empty or has a NUL.", "Use a name like eth0, or a local address.")
        }
        return self
    }

    /// The limits of the engine thread that has this configuration.
    var limits: AdmissionLimits {
        AdmissionLimits(
            perOrigin: connectionsPerOrigin, perConnection: streamsPerConnection, total: requestsInFlight,
            queue: queueLimit)
    }

    /// Lends the settings to libcurl. Their pointers are valid during the call only.
    func withSettings<Result>(_ body: (inout ce_settings) -> Result) -> Result {
        // Each text ends in a NUL, and the block in one more.
        var block: [CChar] = []
        for override in addressOverrides {
            block += Array("\(override.host.text):\(override.port):\(override.address)".utf8CString)
        }
        block.append(0)
        let isAbstract = unixSocket?.hasPrefix("@") ?? false
        let socket = unixSocket.map { Array(String($0.dropFirst(isAbstract ? 1 : 0)).utf8CString) }
        let interface = networkInterface.map { Array(Self.marked($0).utf8CString) }
        return block.withUnsafeBufferPointer { block in
            (socket ?? [0]).withUnsafeBufferPointer { socketText in
                (interface ?? [0]).withUnsafeBufferPointer { interfaceText in
                    var settings = ce_settings()
                    settings.resolve = addressOverrides.isEmpty ? nil : block.baseAddress
                    settings.unix_socket = socket == nil ? nil : socketText.baseAddress
                    settings.unix_socket_is_abstract = isAbstract
                    settings.interface = interface == nil ? nil : interfaceText.baseAddress
                    fill(&settings)
                    return body(&settings)
                }
            }
        }
    }

    private func fill(_ settings: inout ce_settings) {
        settings.name_lifetime_s = addressLifetime.wholeSeconds
        settings.happy_eyeballs_ms = max(1, min(happyEyeballsDelay.milliseconds, 3_600_000))
        settings.idle_lifetime_s = max(1, idleLifetime.wholeSeconds)
        settings.connection_lifetime_s = connectionLifetime.map { max(1, $0.wholeSeconds) } ?? 0
        settings.keep_alive_s = keepAliveInterval.map { max(1, min($0.wholeSeconds, 32_767)) } ?? 0
        settings.connection_cache = min(connectionCacheSize, 1 << 30)
        settings.notes_connections = !connectionObservers.isEmpty
        settings.streams_per_connection = min(streamsPerConnection, 1 << 30)
    }

    /// Adds a prefix to the interface or address, so that libcurl need not resolve it to find out its kind.
    private static func marked(_ interface: String) -> String {
        guard !interface.contains("!") else { return interface }
        guard let host = try? HostName(interface), host.isAddress else { return "if!" + interface }
        return "host!" + host.text
    }

    private static func check(socket: String) throws(RequestFailure) {
        guard !socket.isEmpty, socket != "@", !socket.utf8.contains(0) else {
            throw invalid("unixSocket is empty or has a NUL.", "Use a path, or @name for the abstract namespace.")
        }
        guard socket.utf8.count <= maximumSocketPath else {
            throw invalid(
                "unixSocket has \(socket.utf8.count) bytes.",
                "A socket's path has at most \(maximumSocketPath) (unix(7)).")
        }
    }

    private static func invalid(_ message: String, _ remedy: String) -> RequestFailure {
        RequestFailure(.invalidRequest, "In the transport's configuration \(message)", remedy: remedy)
    }
}

extension CurlTransport.Configuration {
    /// The configuration of each shard: limits are divided among the shards, and all other settings are copied.
    ///
    /// The shares add up to the whole and differ by at most one. ``checked()`` ensures that each shard has a share of
    /// every limit that is not 0.
    func divided() -> [Self] {
        (0..<shards).map { shard in
            var part = self
            part.shards = 1
            for limit in Self.dividedLimits {
                let total = self[keyPath: limit]
                part[keyPath: limit] = total / shards + (shard < total % shards ? 1 : 0)
            }
            return part
        }
    }

    /// The limits that are divided. The others are about one origin or one connection, and all requests to an origin go
    /// through one shard.
    static var dividedLimits: [WritableKeyPath<Self, Int>] {
        [\.requestsInFlight, \.queueLimit, \.connectionCacheSize]
    }
}

extension Duration {
    /// The duration in whole seconds, rounded up. It is 0 for a negative duration, and never near an overflow.
    var wholeSeconds: Int { milliseconds / 1000 + (milliseconds % 1000 > 0 ? 1 : 0) }
}

extension CurlTransport.Configuration {
    /// Where requests go if their URLs do not decide it alone; see `TrustBearing.route`.
    ///
    /// A proxy is no part of it: over TLS the policy decides who responds, and plain `http` is whatever the network says.
    var route: String {
        guard unixSocket != nil || networkInterface != nil || !addressOverrides.isEmpty else { return "" }
        let overrides = addressOverrides.map { "\($0.host):\($0.port)=\($0.address)" }.sorted()
        return ([unixSocket ?? "", networkInterface ?? ""] + overrides).joined(separator: "\u{1}")
    }
}
