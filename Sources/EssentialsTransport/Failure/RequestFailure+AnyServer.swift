extension RequestFailure {
    /// The failure of a request to any server, or a service for such requests, that was given a client identity.
    package static func identityForAnyServer(host: String? = nil) -> RequestFailure {
        RequestFailure(
            .invalidPolicy, "A request to any server was given a client identity, which the server could request.",
            remedy: "Use a policy without an identity, or an environment for this server.", host: host)
    }
}
