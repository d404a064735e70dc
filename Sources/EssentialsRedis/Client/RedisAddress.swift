import EssentialsRequests
import EssentialsTransport

/// The address of a server, and the credentials that its URL contains.
struct RedisAddress: Sendable {
    let origin: Origin
    let credentials: RedisCredentials?

    /// Reads `redis://`, or `rediss://` for TLS, with a host, and possibly with credentials, a port, and the database 0.
    init(_ text: String) throws(RequestFailure) {
        let scheme: Origin.Scheme
        var rest: Substring
        switch text {
        case _ where text.lowercased().hasPrefix("redis://"): (scheme, rest) = (.http, text.dropFirst(8))
        case _ where text.lowercased().hasPrefix("rediss://"): (scheme, rest) = (.https, text.dropFirst(9))
        default:
            throw RedisFailures.address("The address of the Redis server does not begin with redis:// or rediss://.")
        }
        guard !rest.contains(where: { "?#".contains($0) }) else {
            throw RedisFailures.address("The address of the Redis server has a query or a fragment.")
        }
        if let slash = rest.lastIndex(of: "/") {
            guard ["", "0"].contains(rest[rest.index(after: slash)...]) else {
                throw RedisFailures.address("The address of the Redis server names a database. Only number 0 is used.")
            }
            rest = rest[..<slash]
        }
        var credentials: RedisCredentials?
        if let at = rest.lastIndex(of: "@") {
            credentials = try Self.credentials(rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        let hasPort =
            rest.last != "]" && rest.drop { $0 != "]" }.contains(":") || rest.first != "[" && rest.contains(":")
        let url: RequestURL
        do throws(RequestFailure) {
            url = try RequestURL("\(scheme)://\(rest)\(hasPort ? "" : ":6379")/")
        } catch {
            throw RedisFailures.address("The address of the Redis server has no valid host and port.")
        }
        (origin, self.credentials) = (url.origin, credentials)
    }

    private static func credentials(_ text: Substring) throws(RequestFailure) -> RedisCredentials {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let user = Self.unescaped(parts[0]), let password = Self.unescaped(parts[1]) else {
            throw RedisFailures.address("The credentials in the address of the Redis server are not user:password.")
        }
        return RedisCredentials(user: user.isEmpty ? "default" : user, password: password)
    }

    /// The text without its escapes; `nil` if one is damaged.
    private static func unescaped(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.first {
            if byte == UInt8(ascii: "%") {
                guard let escaped = CanonicalRules.escapedByte(rest) else { return nil }
                bytes.append(escaped)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
                rest = rest.dropFirst()
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The credentials of the URL, as a closure.
    var fixedCredentials: (@Sendable @concurrent () async throws -> RedisCredentials?)? {
        guard let credentials else { return nil }
        return { credentials }
    }
}

extension Origin {
    /// Whether what is sent does not leave the machine.
    var isLoopback: Bool {
        host.isAddress
            ? host.text == "::1" || host.text.hasPrefix("127.")
            : host.text == "localhost" || host.text.hasSuffix(".localhost")
    }
}
