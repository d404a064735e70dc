import EssentialsHTTP
import FoundationEssentials

/// Keeps responses for a cache: the seam between the stage, which decides, and memory, disk or another machine.
///
/// Nothing throws: a store that fails finds nothing, and stores nothing.
protocol ResponseStore: Sendable {
    /// The size of the largest body that is stored, in bytes.
    var largest: Int { get }

    /// The stored responses of a key, with what a later change has to prove.
    func lookup(_ key: CacheKey) async -> CacheLookup

    /// The body of a stored response; `nil` if it is gone.
    func body(of entry: CacheEntry, _ key: CacheKey) async -> Data?

    /// Stores a response as a whole, unless the key was invalidated or its partition was cleared after the lookup, or a
    /// newer response with the same selection is stored.
    ///
    /// - Parameters:
    ///   - entry: The head, with the numbers of the response.
    ///   - replaced: The number of the body that the response replaces.
    /// - Returns: Whether the response is stored.
    func store(
        _ entry: CacheEntry, _ body: Data, for key: CacheKey, replacing replaced: UInt64?, since ticket: CacheTicket
    ) async -> Bool

    /// Replaces the head of a stored response, but never its body, under the same conditions.
    ///
    /// - Parameter entry: The new head, with the number of the stored body.
    /// - Returns: `false` if another request was quicker, or the response is gone.
    func freshen(_ entry: CacheEntry, for key: CacheKey, since ticket: CacheTicket) async -> Bool

    /// Removes the responses of a URL in all partitions. What was looked up before is not stored any more, also if nothing
    /// was stored.
    func invalidate(_ url: RequestURL) async

    /// Removes the responses of all keys that meet a condition. Of these partitions and URLs, what was looked up before is
    /// not stored any more.
    func remove(where isRemoved: @Sendable (CacheKey) -> Bool) async

    /// What is stored now.
    func usage() async -> ResponseCache.Usage
}

/// A stored response.
struct CacheEntry: Sendable {
    let head: StoredHead
    /// The number of the request that has fetched or confirmed it, and the number of its body.
    let identity: ResponseIdentity
    /// Whether the requests that have fetched and confirmed it had credentials or other secrets.
    let isPersonal: Bool
    /// The body, if the lookup has found it together with the head; `nil` if it has to be asked for.
    var body: Data?
}

/// What is stored under a key.
struct CacheLookup: Sendable {
    var entries: [CacheEntry] = []
    let ticket: CacheTicket
}

/// A moment in the order of a store's lookups and removals.
struct CacheTicket: Sendable, Hashable {
    let epoch: Epoch
}
