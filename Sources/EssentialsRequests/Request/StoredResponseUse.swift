import EssentialsHTTP

/// What a response cache has done for a response that did not come from the server just now.
package struct StoredResponseUse: Sendable, Hashable {
    /// The time since the server created or confirmed the response (RFC 9111, 4.2.3).
    package var age: Duration
    /// Whether the response was no longer fresh when it was used, such as with `stale-if-error` (RFC 5861, 4).
    package var isStale: Bool

    package init(age: Duration, isStale: Bool = false) { (self.age, self.isStale) = (age, isStale) }

    /// The use with the age that a cache has written into the response (RFC 9111, 5.1). Without a valid one it is zero.
    package init(of fields: HTTPFields) { self.init(age: .seconds(Freshness.ageField(of: fields))) }
}
