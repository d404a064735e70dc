import EssentialsTransport

/// The failures of a client, in words that help.
enum RedisFailures {
    static func address(_ message: String) -> RequestFailure {
        RequestFailure(
            .invalidRequest, message,
            remedy: "Write redis://host:port, or rediss://host:port for TLS. The default port is 6379.")
    }

    static func plaintext(_ host: HostName) -> RequestFailure {
        RequestFailure(
            .plaintextRefused, "A connection to the Redis server \(host) would not be encrypted.",
            remedy: "Write rediss:// for TLS. In a network that you trust, set allowsPlaintext.", host: host.description
        )
    }

    static func application(_ name: String) -> RequestFailure {
        RequestFailure(
            .invalidRequest, "“\(name)” cannot be used as the name of an application or of a client.",
            remedy: "Use 1 to 64 of the characters a-z, A-Z, 0-9, “.”, “_” and “-”.")
    }

    static func credentials(_ target: LinkTarget, _ error: (any Error)?) -> RequestFailure {
        RequestFailure(
            .authorization,
            "The credentials for the Redis server \(target.origin.authority) could not be obtained"
                + (error == nil ? ": they did not come in time." : "."),
            remedy: error == nil ? "Return them sooner, or raise connectTimeout." : "See the underlying error.",
            host: target.origin.host.description, transmission: .unsent, underlying: error)
    }

    /// Why a server does not accept the client.
    static func greeting(_ target: LinkTarget, _ failure: RedisFailure) -> RequestFailure {
        let server = "The Redis server \(target.origin.authority)"
        guard case .refused(let error) = failure else {
            return RequestFailure(
                .interrupted, "\(server) did not answer the first commands. \(failure)",
                remedy: "Check that the port is that of a Redis server, with TLS if the URL says rediss://.",
                phase: .connect, host: target.origin.host.description)
        }
        switch error.code {
        case "WRONGPASS", "NOAUTH", "NOPERM":
            return RequestFailure(
                .authorization, "\(server) has refused the client: \(error.shown)",
                remedy:
                    "Check the credentials, the name of the application, and the commands that the server's ACL allows.",
                phase: .connect, host: target.origin.host.description)
        default:
            return RequestFailure(
                .protocolViolation, "\(server) has refused the first commands: \(error.shown)",
                remedy: "Use Redis 6.2 or later, or Valkey.", phase: .connect,
                host: target.origin.host.description)
        }
    }

    static func lost(_ target: LinkTarget, _ reason: RedisFailure) -> RequestFailure {
        RequestFailure(
            .interrupted, "The connection to the Redis server \(target.origin.authority) has ended. \(reason)",
            phase: .connect, host: target.origin.host.description)
    }

    /// Why a server cannot be used although it has accepted the client.
    static func unusable(_ target: LinkTarget, _ reason: String, _ remedy: String) -> RequestFailure {
        RequestFailure(
            .connection, "The Redis server \(target.origin.authority) \(reason).", remedy: remedy, phase: .connect,
            host: target.origin.host.description)
    }

    static func unanswered(_ failure: RedisFailure) -> RequestFailure {
        RequestFailure(.interrupted, "A command has no reply. \(failure)", phase: .waiting)
    }

    static func cancelled(_ target: LinkTarget) -> RequestFailure {
        RequestFailure(
            .cancelled, "Waiting for the Redis server \(target.origin.authority) was cancelled.",
            host: target.origin.host.description)
    }

    static func closed(_ target: LinkTarget) -> RequestFailure {
        RequestFailure(
            .closed, "The client for the Redis server \(target.origin.authority) is closed.",
            host: target.origin.host.description)
    }
}
