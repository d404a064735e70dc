import EssentialsTools

/// A resource in one line, for tools that show many.
package struct ResourceSummary: Sendable {
    /// The address without its query. Variants of a resource have the same one.
    package let address: String
    /// `loading`, `fresh`, `stale`, `failed` or `empty`.
    package let state: String
    /// The time since the content was received, confirmed or set.
    package let age: Duration?
    /// How long it stays fresh.
    package let freshFor: Duration?
    package let observers: Int
    /// The failure of the last load.
    package let failure: String?
}

extension HTTPResourceService {
    /// The resources that the service knows, the observed ones first, and at most so many. It changes nothing: a new environment
    /// is not adopted for it.
    package func summaries(upTo maximum: Int) -> [ResourceSummary] {
        let now = clock.now
        let all = table.cores.map { (core: $0, observers: $0.attachedObservers) }
        let chosen =
            all.count > maximum ? Array(all.sorted { $0.observers > $1.observers }.prefix(maximum)) : all
        return chosen.map { Self.summary(of: $0.core, observers: $0.observers, at: now) }
            .sorted { ($1.observers, $0.address) < ($0.observers, $1.address) }
    }

    private static func summary(of core: ResourceCore, observers: Int, at now: Duration) -> ResourceSummary {
        let facts = core.facts
        let left = facts.freshUntil.map { $0 - now }.flatMap { $0 >= .zero ? $0 : nil }
        let state =
            facts.loads > 0
            ? "loading"
            : facts.failure != nil ? "failed" : left != nil ? "fresh" : facts.entity != nil ? "stale" : "empty"
        return ResourceSummary(
            address: core.address.description, state: state, age: facts.contentTime.map { max(now - $0, .zero) },
            freshFor: left, observers: observers, failure: facts.failure.map { "\($0.reason)" })
    }
}
