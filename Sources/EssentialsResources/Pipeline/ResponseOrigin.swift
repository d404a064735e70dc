import EssentialsRequests

/// How a response came about, as far as it matters for freshness, for the order, and for what may be stored.
struct ResponseOrigin: Sendable {
    /// Whether the request had credentials, so that the response may be for one account only. It is only found out for
    /// resources with caches.
    var isPersonal = false
    /// How a response cache has served the response; `nil` if it came from the server.
    var storedUse: StoredResponseUse?
    /// What a response cache says about the response; `nil` if there is none.
    var identity: ResponseIdentity?
    /// The time since the request was sent. It is only measured if the server decides how long content is fresh.
    var delay = Duration.zero
}
