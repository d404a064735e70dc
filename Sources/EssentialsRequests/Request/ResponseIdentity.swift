/// What a response cache says about each of its responses, so that a caller knows which response is newer, and whether it knows
/// the body already.
///
/// ```swift
/// let again = try await requests.send(DataRequest(.get, "films"))
/// if again.identity?.body != shown.identity?.body { show(again) }
/// ```
///
/// Numbers of different caches are not comparable.
public struct ResponseIdentity: Sendable, Hashable {
    /// The number of the request to the server that has fetched the response, or confirmed it last. It rises with each
    /// request of the cache, so of two responses of one URL that with the greater number is newer. It is never zero.
    public var load: UInt64
    /// A number that changes only if the body does. A confirmation with 304 keeps it.
    public var body: UInt64

    /// Creates an identity, for test doubles.
    public init(load: UInt64, body: UInt64) { (self.load, self.body) = (load, body) }
}
