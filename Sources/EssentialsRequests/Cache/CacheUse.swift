import EssentialsHTTP

/// What a response cache has done for a response.
///
/// ```swift
/// let response = try await requests.send(DataRequest(.get, "films"))
/// print(response.cache?.outcome ?? .bypassed, response.cache?.age ?? .zero)
/// print(response.cacheStatus ?? "-")  // ServiceEssentials; hit; ttl=376
/// ```
public struct CacheUse: Sendable, Hashable {
    /// Where the response comes from.
    public enum Outcome: Sendable, Hashable {
        /// From the server, because nothing usable was stored.
        case missed
        /// From the cache, and it is fresh.
        case hit
        /// From the cache, although it is stale: the server or the configuration allows it, or the cache is offline.
        case stale
        /// From the cache, and the server has confirmed it just now.
        case validated
        /// From the server, because the request goes past the cache.
        case bypassed
    }

    /// Where the response comes from.
    public let outcome: Outcome
    /// The time since the server created or confirmed the response (RFC 9111, 4.2.3). It is zero for one that came from the
    /// server now.
    public let age: Duration
    /// How long the response is fresh from now on; negative if it is stale, and `nil` if it is not stored.
    public let timeLeft: Duration?
    /// Whether the response is stored.
    public let isStored: Bool
    /// The same as text.
    let status: CacheStatus

    init(
        _ outcome: Outcome, _ status: CacheStatus, age: Duration = .zero, timeLeft: Duration? = nil,
        isStored: Bool = false
    ) {
        (self.outcome, self.status, self.age) = (outcome, status, age)
        (self.timeLeft, self.isStored) = (timeLeft, isStored)
    }

    /// Whether the body comes from the cache.
    public var isFromCache: Bool {
        switch outcome {
        case .hit, .stale, .validated: true
        case .missed, .bypassed: false
        }
    }
}

extension CacheUse {
    /// How a stored response was used; `nil` if the server has sent or confirmed the response just now.
    var ofStoredResponse: StoredResponseUse? {
        switch outcome {
        case .hit: StoredResponseUse(age: age)
        case .stale: StoredResponseUse(age: age, isStale: true)
        case .missed, .validated, .bypassed: nil
        }
    }
}

/// What a response cache says about the response of a hop. It is an object, because few requests have it.
final class CacheFacts: Sendable {
    let use: CacheUse
    let identity: ResponseIdentity
    /// Whether the stored response was fetched with credentials or other secrets.
    let isPersonal: Bool
    /// The failure or status in place of which a stale response is served.
    let trouble: CacheTrouble?
    /// For a request with a ``CacheBinding``, the file of the stored response, which has no body.
    let file: StoredFile?
    /// For a request with a ``CacheBinding``, what the response would change.
    let offer: OfferedChange?

    init(
        _ use: CacheUse, _ identity: ResponseIdentity, isPersonal: Bool = false, trouble: CacheTrouble? = nil,
        file: StoredFile? = nil, offer: OfferedChange? = nil
    ) {
        (self.use, self.identity, self.isPersonal, self.trouble) = (use, identity, isPersonal, trouble)
        (self.file, self.offer) = (file, offer)
    }
}
