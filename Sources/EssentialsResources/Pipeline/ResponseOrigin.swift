import EssentialsRequests

/// The origin of a response, as far as it matters for freshness, for the order, and for what may be stored.
struct ResponseOrigin: Sendable {
    /// Whether the request had credentials, so that the response may be for one account only. This is determined only
    /// for resources with caches.
    var isPersonal = false
    /// How a response cache has served the response; `nil` if it came from the server.
    var storedUse: StoredResponseUse?
    /// The numbers that a response cache has given to the response; `nil` if there is no such cache.
    var identity: ResponseIdentity?
    /// The time since the request was sent. It is measured only if the server decides how long content is fresh.
    var delay = Duration.zero
}
